// The evaluated points of a run as columns, a piece at a time: a run may have more points than memory.
#include "bind.hpp"
#include "convert.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include <nanobind/ndarray.h>

#include <fmt/format.h>

#include "tilewright/base/text.hpp"
#include "tilewright/study/points.hpp"
#include "tilewright/study/run_directory.hpp"

namespace tilewright::python {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(50);

struct Column {
  std::string name;
  bool number = true;
  std::size_t place = 0;  // in the table
};

// Rows of the chosen columns; by column either numbers or texts.
struct Piece {
  std::vector<std::vector<double>> numbers;
  std::vector<std::vector<std::string>> texts;
  std::size_t rows = 0;
};

double number_of(const PointCell& cell) {
  double value = std::numeric_limits<double>::quiet_NaN();  // of an empty cell, too
  std::from_chars(cell.text.data(), cell.text.data() + cell.text.size(), value);
  return value;
}

// A thread reads the store one piece ahead of who takes them.
class PointStream {
 public:
  PointStream(std::string directory, std::string layer, std::vector<std::string> wanted, std::size_t rows)
      : wanted_(std::move(wanted)), rows_(rows) {
    worker_ = std::thread([this, directory = std::move(directory), layer = std::move(layer)] { read(directory, layer); });
    nb::gil_scoped_release released;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return known_ || done_; });
  }
  ~PointStream() {
    const nb::gil_scoped_release released;
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    worker_.join();
  }
  PointStream(const PointStream&) = delete;
  PointStream& operator=(const PointStream&) = delete;

  std::vector<std::string> columns() {
    check();
    std::vector<std::string> names;
    for (const Column& column : columns_) names.push_back(column.name);
    return names;
  }

  // The next rows as a dictionary of columns; None at the end.
  nb::object next() {
    const std::unique_lock alone(busy_, std::try_to_lock);
    if (!alone) raise("points: another thread is reading this stream, expected one thread at a time");
    std::optional<Piece> piece;
    for (bool over = false; !piece && !over;) {
      {
        const nb::gil_scoped_release released;
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, kLookEvery, [this] { return piece_ || done_; });
        piece = std::exchange(piece_, std::nullopt);
        over = done_;
      }
      changed_.notify_all();
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    if (piece) return dictionary(std::move(*piece));
    check();
    return nb::none();
  }

 private:
  void check() {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
    if (error_) raise(*error_);
  }

  nb::object dictionary(Piece piece) {
    nb::dict all;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].number) {
        auto* values = new std::vector<double>(std::move(piece.numbers[i]));
        const nb::capsule owner(values, [](void* memory) noexcept { delete static_cast<std::vector<double>*>(memory); });
        all[columns_[i].name.c_str()] =
            nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(values->data(), {values->size()}, owner));
      } else {
        all[columns_[i].name.c_str()] =
            nb::module_::import_("numpy").attr("array")(nb::cast(piece.texts[i]), "dtype"_a = "object");
      }
    }
    return all;
  }

  void read(const std::string& directory, const std::string& layer) {
    std::exception_ptr failure;
    std::optional<Error> error;
    Piece piece;
    try {
      const Result<Done> done = stream_points(
          directory, layer, [&](const PointTable& table) { choose(table); },
          [&](std::span<const PointCell> cells) { return add(piece, cells) && (piece.rows < rows_ || hand_over(piece)); });
      if (!done) error = done.error();
      if (done && piece.rows > 0) hand_over(piece);
    } catch (const Error& wrong) {
      error = wrong;
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done_ = true;
    failure_ = failure;
    error_ = error;
    changed_.notify_all();
  }

  void choose(const PointTable& table) {
    const std::vector<std::string>& names = table.columns();
    const std::vector<bool> numbers = table.are_numbers();
    std::vector<Column> columns;
    for (const std::string& name : wanted_.empty() ? names : wanted_) {
      const auto found = std::ranges::find(names, name);
      if (found == names.end()) {
        throw Error{ErrorCode::NotFound, fmt::format("points: there is no column '{}'{}, expected some of {}",
                                                     printable(name), did_you_mean(name, names), join(names, ", "))};
      }
      const auto place = static_cast<std::size_t>(found - names.begin());
      columns.push_back({name, numbers[place], place});
    }
    const std::lock_guard lock(mutex_);
    columns_ = std::move(columns);
    known_ = true;
    changed_.notify_all();
  }

  bool add(Piece& piece, std::span<const PointCell> cells) {
    piece.numbers.resize(columns_.size());
    piece.texts.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const PointCell& cell = cells[columns_[i].place];
      if (columns_[i].number) {
        piece.numbers[i].push_back(number_of(cell));
      } else {
        piece.texts[i].push_back(cell.text);
      }
    }
    ++piece.rows;
    return true;
  }

  // False when nobody wants more.
  bool hand_over(Piece& piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !piece_ || stopped_; });
    if (stopped_) return false;
    piece_ = std::exchange(piece, {});
    changed_.notify_all();
    return true;
  }

  std::vector<std::string> wanted_;
  std::size_t rows_;
  std::vector<Column> columns_;
  std::mutex mutex_, busy_;
  std::condition_variable changed_;
  std::optional<Piece> piece_;
  bool known_ = false, done_ = false, stopped_ = false;
  std::exception_ptr failure_;
  std::optional<Error> error_;
  std::thread worker_;
};

}  // namespace

void bind_store(nb::module_& module) {
  nb::class_<PointStream> cls(
      module, "PointStream",
      "The evaluated points of a run, a piece at a time; tilewright.Run.points() makes tables of it. One thread at a time.");
  cls.def(
      "__init__",
      [](PointStream* self, const nb::object& directory, const std::string& layer, std::vector<std::string> columns,
         std::int64_t rows) {
        if (rows < 1) raise(fmt::format("points: rows is {}, expected at least 1", rows));
        new (self) PointStream(source_text(directory, "points: directory"), layer, std::move(columns),
                               static_cast<std::size_t>(rows));
      },
      "directory"_a, "layer"_a, "columns"_a, "rows"_a,
      nb::sig("def __init__(self, directory: str | os.PathLike[str], layer: str, columns: collections.abc.Sequence[str], "
              "rows: int) -> None"),
      "Of one layer, or of all where `layer` is empty; all columns where none is named.");
  cls.def("columns", &PointStream::columns, "Names of the columns.");
  cls.def("next", &PointStream::next, nb::sig("def next(self) -> dict[str, typing.Any] | None"),
          "The next rows as arrays by column; None at the end.");
  module.def(
      "verb_of", [](const nb::object& directory) { return take(verb_of(source_text(directory, "directory"))); },
      "directory"_a, nb::sig("def verb_of(directory: str | os.PathLike[str]) -> str"),
      "The verb of the run in a directory.");
}

}  // namespace tilewright::python
