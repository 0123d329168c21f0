// What the bindings share: failures as Python exceptions, numbers out of Python objects, and value types as classes made of
// a table of fields.
//
// Nouns are values that never change after they are made: `replace(pes=256)` gives a new one, checked as a file would be. So
// any number of threads may use one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "tilewright/base/names.hpp"
#include "tilewright/base/result.hpp"
#include "tilewright/base/units.hpp"

namespace tilewright::python {

namespace nb = nanobind;
using namespace nb::literals;

// Throws the Python exception of the error's code, with its sentence: tilewright.InvalidInput, NotFound, SystemFailure.
[[noreturn]] void raise(const Error& error);
[[noreturn]] inline void raise(std::string sentence) { raise(invalid(std::move(sentence))); }
// tilewright.Infeasible with its fields.
struct InfeasibleFields {
  std::string sentence, reason;
  std::int64_t need = 0, limit = 0;
  std::string level;  // may be empty
};
[[noreturn]] void raise(const InfeasibleFields& infeasible);
// TypeError: "Layer: stride_height is 'two', expected a whole number".
[[noreturn]] void raise_type(const std::string& place, nb::handle value, std::string_view expected);

// The value, or the exception.
template <typename T>
T take(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(result).value();
}

[[noreturn]] void raise_builtin(PyObject* type, const std::string& sentence);

// A source of text that people name by a str or an os.PathLike.
std::string source_text(nb::handle source, const std::string& place);
// Writes `text` to the file; Io errors are exceptions.
void write_text(nb::handle path, const std::string& text);

// Numbers and words out of Python objects; `place` begins the sentence where one does not fit.
void from_python(nb::handle value, const std::string& place, bool& out);
void from_python(nb::handle value, const std::string& place, std::int64_t& out);
void from_python(nb::handle value, const std::string& place, int& out);
void from_python(nb::handle value, const std::string& place, double& out);
void from_python(nb::handle value, const std::string& place, std::string& out);
void from_python(nb::handle value, const std::string& place, std::vector<std::int64_t>& out);
void from_python(nb::handle value, const std::string& place, std::vector<std::size_t>& out);
template <typename Tag, typename Number>
void from_python(nb::handle value, const std::string& place, Quantity<Tag, Number>& out) {
  from_python(value, place, out.value);
}
template <Named Enum>
void from_python(nb::handle value, const std::string& place, Enum& out) {
  std::string word;
  from_python(value, place, word);
  const Result<Enum> read = named<Enum>(word);
  if (!read) raise(place + ": " + read.error().message);
  out = *read;
}
template <typename T>
void from_python(nb::handle value, const std::string& place, std::optional<T>& out) {
  if (value.is_none()) {
    out.reset();
  } else {
    from_python(value, place, out.emplace());
  }
}

template <typename T>
nb::object to_python(const T& value) {
  return nb::cast(value);
}
template <typename Tag, typename Number>
nb::object to_python(const Quantity<Tag, Number>& value) {
  return nb::cast(value.value);
}
template <Named Enum>
nb::object to_python(const Enum& value) {
  return nb::cast(std::string(name(value)));
}
template <typename T>
nb::object to_python(const std::optional<T>& value) {
  return value ? to_python(*value) : nb::none();
}

// What type checkers call a field's type.
template <typename T>
struct TypeName {
  static std::string text() { return Named<T> ? "str" : "object"; }
};
template <>
struct TypeName<bool> {
  static std::string text() { return "bool"; }
};
template <>
struct TypeName<std::int64_t> {
  static std::string text() { return "int"; }
};
template <>
struct TypeName<int> {
  static std::string text() { return "int"; }
};
template <>
struct TypeName<double> {
  static std::string text() { return "float"; }
};
template <>
struct TypeName<std::string> {
  static std::string text() { return "str"; }
};
template <>
struct TypeName<std::vector<std::int64_t>> {
  static std::string text() { return "collections.abc.Sequence[int]"; }
};
template <>
struct TypeName<std::vector<std::size_t>> {
  static std::string text() { return "collections.abc.Sequence[int]"; }
};
template <typename Tag, typename Number>
struct TypeName<Quantity<Tag, Number>> : TypeName<Number> {};
template <typename T>
struct TypeName<std::optional<T>> {
  static std::string text() { return TypeName<T>::text() + " | None"; }
};

// One field of a value type: `access` gives a reference to it.
template <typename Access>
struct Field {
  const char* name;
  const char* meaning;  // with its unit
  Access access;
};
template <typename Access>
Field(const char*, const char*, Access) -> Field<Access>;

// "Layer has no field 'strid' (did you mean 'stride'?), expected some of …".
std::string unknown_field(const char* type, const std::string& word, const std::vector<std::string>& fields);

// str(value).
std::string str_of(nb::handle value);

// A string that lives as long as the process, for signatures and docstrings made of tables.
const char* keep(std::string text);

// "Layer(name='conv1', op='conv')", from names and values; those that are as in the plain object are left out.
std::string shown(std::string_view type, const std::vector<std::pair<std::string, nb::object>>& fields);
// A small HTML table for notebooks.
std::string html_table(const std::string& title, const std::vector<std::pair<std::string, nb::object>>& fields);

// Gives the class of T: a constructor with keywords, a read-only property for each field, replace(), ==, hash, repr, a table
// for notebooks and pickling. `check` is T -> Result<T>.
template <typename T, typename Check, typename... Access>
void define_fields(nb::class_<T>& cls, const char* type, Check check, Field<Access>... fields) {
  const auto fill = [check, type, fields...](T value, const nb::dict& given) {
    for (const auto& [key, value_given] : given) {
      const nb::handle object = value_given;
      const std::string word = nb::cast<std::string>(key);
      bool known = false;
      const auto set = [&](const auto& field) {
        if (word != field.name) return;
        known = true;
        from_python(object, std::string(type) + ": " + field.name, field.access(value));
      };
      (set(fields), ...);
      if (known) continue;
      raise_builtin(PyExc_TypeError, unknown_field(type, word, {fields.name...}));
    }
    return take(check(std::move(value)));
  };
  const auto items = [fields...](const T& value) {
    T copy = value;  // access() is written once, for setting
    std::vector<std::pair<std::string, nb::object>> list;
    (list.emplace_back(fields.name, to_python(fields.access(copy))), ...);
    return list;
  };
  T plain{};
  std::string keywords, arguments;
  const auto tell = [&](const auto& field) {
    using V = std::decay_t<decltype(field.access(plain))>;
    keywords += std::string(", ") + field.name + ": " + TypeName<V>::text() + " = ...";
    arguments += std::string("    ") + field.name + ": " + field.meaning + "\n";
  };
  (tell(fields), ...);
  cls.def(
      "__init__", [fill](T* self, const nb::kwargs& given) { new (self) T(fill(T{}, given)); },
      nb::sig(keep("def __init__(self, *" + keywords + ") -> None")), keep("Made of its fields:\n\n" + arguments));
  cls.def(
      "replace", [fill](const T& self, const nb::kwargs& given) { return fill(self, given); },
      nb::sig(keep("def replace(self, *" + keywords + ") -> " + type)),
      "The same with other values of these fields, checked as a file would be.");
  const auto property = [&](const auto& field) {
    using V = std::decay_t<decltype(field.access(plain))>;
    cls.def_prop_ro(
        field.name, [access = field.access](const T& self) { return to_python(access(const_cast<T&>(self))); },
        nb::sig(keep(std::string("def ") + field.name + "(self) -> " +
                     (TypeName<V>::text() == "collections.abc.Sequence[int]" ? "list[int]" : TypeName<V>::text()))),
        field.meaning);
  };
  (property(fields), ...);
  cls.def(
      "__eq__", [](const T& a, const nb::object& b) { return nb::isinstance<T>(b) && a == nb::cast<const T&>(b); },
      nb::sig("def __eq__(self, other: object, /) -> bool"));
  cls.def("__hash__", [items, type](const T& self) { return nb::hash(nb::str(shown(type, items(self)).c_str())); });
  cls.def("__repr__", [items, type](const T& self) {
    const auto mine = items(self), others = items(T{});
    std::vector<std::pair<std::string, nb::object>> told;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (!mine[i].second.equal(others[i].second)) told.push_back(mine[i]);
    }
    return shown(type, told);
  });
  cls.def(
      "_repr_html_", [items, type](const T& self) { return html_table(type, items(self)); }, "A table for notebooks.");
  cls.def(
      "to_dict",
      [items](const T& self) {
        nb::dict all;
        for (auto& [key, value] : items(self)) all[key.c_str()] = value;
        return all;
      },
      nb::sig("def to_dict(self) -> dict[str, typing.Any]"), "Every field by its name.");
  cls.def(
      "__getstate__",
      [items](const T& self) {
        nb::dict all;
        for (auto& [key, value] : items(self)) all[key.c_str()] = value;
        return all;
      },
      nb::sig("def __getstate__(self) -> dict[str, typing.Any]"));
  cls.def(
      "__setstate__", [fill](T& self, const nb::dict& state) { new (&self) T(fill(T{}, state)); },
      nb::sig("def __setstate__(self, state: dict[str, typing.Any], /) -> None"));
}

}  // namespace tilewright::python
