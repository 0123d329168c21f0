#include "convert.hpp"

#include <cmath>
#include <deque>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"
#include "tilewright/report/page.hpp"

namespace tilewright::python {
namespace {

std::string repr_of(nb::handle value) {
  const std::string text = nb::repr(value).c_str();
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

[[noreturn]] void raise_class(const char* name, const nb::object& argument) {
  const nb::object type = nb::module_::import_("tilewright.errors").attr(name);
  PyErr_SetObject(type.ptr(), argument.ptr());
  throw nb::python_error();
}

// A sentence may hold bytes of a hostile file.
nb::str text_of(const std::string& sentence) {
  return nb::steal<nb::str>(
      PyUnicode_DecodeUTF8(sentence.data(), static_cast<Py_ssize_t>(sentence.size()), "backslashreplace"));
}

template <typename Number>
void read_integer(nb::handle value, const std::string& place, Number& out) {
  if (nb::isinstance<nb::bool_>(value) || PyIndex_Check(value.ptr()) == 0) raise_type(place, value, "a whole number");
  const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
  if (!whole.is_valid()) throw nb::python_error();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
  if (overflow != 0 || !std::in_range<Number>(number)) {
    raise(fmt::format("{} is {}, expected {} to {}", place, repr_of(value), std::numeric_limits<Number>::min(),
                      std::numeric_limits<Number>::max()));
  }
  out = static_cast<Number>(number);
}

template <typename Number>
void read_integers(nb::handle value, const std::string& place, std::vector<Number>& out) {
  if (nb::isinstance<nb::str>(value) || PySequence_Check(value.ptr()) == 0)
    raise_type(place, value, "a list of whole numbers");
  out.clear();
  for (const nb::handle entry : nb::iter(value)) read_integer(entry, place, out.emplace_back());
}

}  // namespace

void raise(const Error& error) {
  raise_class(error.code == ErrorCode::NotFound ? "NotFound"
              : error.code == ErrorCode::Io     ? "SystemFailure"
                                                : "InvalidInput",
              text_of(error.message));
}

void raise(const InfeasibleFields& infeasible) {
  const nb::object type = nb::module_::import_("tilewright.errors").attr("Infeasible");
  const nb::object exception =
      type(text_of(infeasible.sentence), infeasible.reason, infeasible.need, infeasible.limit, infeasible.level);
  PyErr_SetObject(type.ptr(), exception.ptr());
  throw nb::python_error();
}

void raise_type(const std::string& place, nb::handle value, std::string_view expected) {
  raise_builtin(PyExc_TypeError, fmt::format("{} is {}, expected {}", place, repr_of(value), expected));
}

void raise_builtin(PyObject* type, const std::string& sentence) {
  PyErr_SetObject(type, text_of(sentence).ptr());
  throw nb::python_error();
}

std::string source_text(nb::handle source, const std::string& place) {
  if (nb::isinstance<nb::str>(source)) return nb::cast<std::string>(source);
  if (!nb::hasattr(source, "__fspath__")) raise_type(place, source, "a str or a path");
  const nb::object path = source.attr("__fspath__")();
  if (!nb::isinstance<nb::str>(path)) raise_type(place, source, "a str or a path");
  return nb::cast<std::string>(path);
}

void write_text(nb::handle path, const std::string& text) { take(write_file(source_text(path, "path"), text)); }

void from_python(nb::handle value, const std::string& place, bool& out) {
  if (!nb::isinstance<nb::bool_>(value)) raise_type(place, value, "True or False");
  out = nb::cast<bool>(value);
}
void from_python(nb::handle value, const std::string& place, std::int64_t& out) { read_integer(value, place, out); }
void from_python(nb::handle value, const std::string& place, int& out) { read_integer(value, place, out); }
void from_python(nb::handle value, const std::string& place, double& out) {
  if (nb::isinstance<nb::bool_>(value) || nb::isinstance<nb::str>(value) || PyNumber_Check(value.ptr()) == 0) {
    raise_type(place, value, "a number");
  }
  out = PyFloat_AsDouble(value.ptr());
  if (out == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
  if (std::isnan(out)) raise(place + " is nan, expected a number");
}
void from_python(nb::handle value, const std::string& place, std::string& out) {
  if (!nb::isinstance<nb::str>(value)) raise_type(place, value, "a str");
  out = nb::cast<std::string>(value);
}
void from_python(nb::handle value, const std::string& place, std::vector<std::int64_t>& out) {
  read_integers(value, place, out);
}
void from_python(nb::handle value, const std::string& place, std::vector<std::size_t>& out) {
  read_integers(value, place, out);
}

std::string unknown_field(const char* type, const std::string& word, const std::vector<std::string>& fields) {
  return fmt::format("{} has no field '{}'{}, expected some of {}", type, printable(word), did_you_mean(word, fields),
                     join(fields, ", "));
}

std::string str_of(nb::handle value) {
  const nb::object text = nb::steal(PyObject_Str(value.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  return nb::cast<std::string>(text);
}

const char* keep(std::string text) {
  static std::mutex mutex;
  static std::deque<std::string> all;
  const std::lock_guard lock(mutex);
  for (const std::string& known : all) {
    if (known == text) return known.c_str();
  }
  return all.emplace_back(std::move(text)).c_str();
}

std::string shown(std::string_view type, const std::vector<std::pair<std::string, nb::object>>& fields) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : fields)
    parts.push_back(fmt::format("{}={}", name, nb::cast<std::string>(nb::repr(value))));
  return fmt::format("{}({})", type, join(parts, ", "));
}

std::string html_table(const std::string& title, const std::vector<std::pair<std::string, nb::object>>& fields) {
  std::string rows;
  for (const auto& [name, value] : fields) {
    if (value.is_none()) continue;
    rows += fmt::format("<tr><th style='text-align:left'>{}</th><td>{}</td></tr>", html_escaped(name),
                        html_escaped(str_of(value)));
  }
  return fmt::format("<table><caption>{}</caption>{}</table>", html_escaped(title), rows);
}

}  // namespace tilewright::python
