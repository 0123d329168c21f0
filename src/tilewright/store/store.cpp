#include "tilewright/store/store.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "tilewright/store/database.hpp"
#include "tilewright/store/outcome_table.hpp"

namespace tilewright {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are in the file as they are in memory");

constexpr std::int64_t kApplication = 0x54'6c'57'72;  // "TlWr", SQLite's own place for telling whose file it is
constexpr std::int64_t kVersion = 1;

// A row's place is its problem's number times 2^32, plus its position: an integer key is what SQLite is fastest with.
// `reason` is NULL for feasible outcomes and `numbers` for infeasible ones. The view is for people.
constexpr std::string_view kTables = R"(
CREATE TABLE problem (number INTEGER PRIMARY KEY, key INTEGER NOT NULL UNIQUE, text TEXT NOT NULL);
CREATE TABLE outcome (place INTEGER PRIMARY KEY, design BLOB NOT NULL, reason INTEGER, numbers BLOB, checksum INTEGER NOT NULL);
CREATE VIEW known AS SELECT problem.text AS problem, place & 0xffffffff AS position, design, reason, numbers
  FROM outcome JOIN problem ON problem.number = place >> 32;
)";
constexpr int kPositionBits = 32;

Result<bool> is_new(Database& database) {
  TW_TRY(const std::int64_t application, database.number("PRAGMA application_id"));
  if (application != 0) return false;
  TW_TRY(const std::int64_t things, database.number("SELECT count(*) FROM sqlite_schema"));
  return things == 0;
}

Result<Done> create(Database& database) {
  TW_TRY([[maybe_unused]] const Done begun, database.run("BEGIN IMMEDIATE"));
  TW_TRY(const bool still_new, is_new(database));
  if (still_new) {
    TW_TRY([[maybe_unused]] const Done made, database.run(fmt::format("{} PRAGMA application_id={}; PRAGMA user_version={};",
                                                                      kTables, kApplication, kVersion)));
  }
  return database.run("COMMIT");
}

Result<Done> check_identity(Database& database, const std::string& name) {
  TW_TRY(const std::int64_t application, database.number("PRAGMA application_id"));
  if (application != kApplication) {
    return invalid(fmt::format("{}: the file is a database of another program, expected a store made by tilewright", name));
  }
  TW_TRY(const std::int64_t version, database.number("PRAGMA user_version"));
  if (version > kVersion) {
    return invalid(fmt::format("{}: the store has version {}, expected at most {}; use the newer tilewright that made it",
                               name, version, kVersion));
  }
  if (version < 1) return database.damaged(fmt::format("its version is {}", version));
  return Done{};
}

std::string_view bytes_of(std::span<const double> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

// SQLite keeps its trees whole but does not notice a flipped bit in a value.
std::int64_t checksum_of(std::uint64_t problem, const DesignHash& design, const StoredOutcome& outcome) {
  const std::uint64_t state = outcome.feasible ? 0x100u : outcome.reason;
  const std::string_view bytes = bytes_of(outcome.numbers);
  return static_cast<std::int64_t>(
      XXH3_64bits_withSeed(bytes.data(), bytes.size(), problem ^ design.low ^ (design.high << 1) ^ (state << 32)) &
      0xffffffffu);
}

}  // namespace

struct Store::State {
  struct Problem {
    std::uint64_t key = 0;
    std::int64_t number = 0;
    OutcomeTable table;
    std::int64_t rows = 0;       // of the file that we have read or written
    std::int64_t next_row = 0;   // within a transaction
    std::int64_t caught_up = 0;  // the transaction in which `next_row` was set
  };
  struct Pending {
    Problem* problem = nullptr;
    DesignHash hash;
    std::size_t offset = 0, size = 0;  // of the design, in `designs`
  };

  explicit State(Database opened) : database(std::move(opened)) {}

  static std::int64_t place_of(const Problem& problem, std::int64_t position) {
    return (problem.number << kPositionBits) + position;
  }

  Result<Done> prepare_statements();
  Result<std::optional<std::int64_t>> number_of(std::uint64_t key);
  using RowVisit = std::function<bool(std::string_view design, const DesignHash& hash, const StoredOutcome& outcome)>;
  Result<Done> each_row(const Problem& problem, std::int64_t first, const RowVisit& visit);
  Result<Done> read_rows(Problem& problem);
  Result<Done> write_pending();

  Database database;
  std::optional<Statement> find_problem, add_problem, select, insert;
  std::unordered_map<std::uint64_t, Problem> problems;
  std::vector<Pending> pending;
  std::string designs;
  std::set<std::pair<std::uint64_t, DesignHash>> overtaken;  // pending here, but written by another process first
  std::int64_t transaction = 0;
};

Result<Done> Store::State::prepare_statements() {
  TW_TRY(find_problem, database.prepare("SELECT number FROM problem WHERE key = ?"));
  TW_TRY(add_problem, database.prepare("INSERT OR IGNORE INTO problem (key, text) VALUES (?, ?)"));
  TW_TRY(select,
         database.prepare("SELECT place, design, reason, numbers, checksum FROM outcome WHERE place >= ? AND place < ? "
                          "ORDER BY place"));
  TW_TRY(insert, database.prepare("INSERT INTO outcome (place, design, reason, numbers, checksum) VALUES (?, ?, ?, ?, ?)"));
  return Done{};
}

Result<std::optional<std::int64_t>> Store::State::number_of(std::uint64_t key) {
  find_problem->bind(1, static_cast<std::int64_t>(key));
  TW_TRY(const bool known, find_problem->step());
  std::optional<std::int64_t> number;
  if (known) number = find_problem->integer(0);
  find_problem->reset();
  return number;
}

// Visits the rows of a problem from position `first` on, each checked against what was written.
Result<Done> Store::State::each_row(const Problem& problem, std::int64_t first, const RowVisit& visit) {
  select->bind(1, place_of(problem, first));
  select->bind(2, place_of(problem, 0) + (std::int64_t{1} << kPositionBits));
  std::vector<double> numbers;
  std::optional<std::size_t> width = problem.table.width();
  for (std::int64_t expected = first;; ++expected) {
    TW_TRY(const bool row, select->step());
    if (!row) break;
    const std::string_view design = select->blob(1);
    const DesignHash hash = hash_of_design(design);
    const std::string_view bytes = select->blob(3);
    numbers.resize(bytes.size() / sizeof(double));
    if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(double));
    const bool feasible = select->is_null(2);
    const StoredOutcome outcome{feasible, static_cast<std::uint8_t>(select->integer(2)), numbers};
    const std::int64_t position = select->integer(0) - place_of(problem, 0);
    if (position != expected || bytes.size() % sizeof(double) != 0 ||
        checksum_of(problem.key, hash, outcome) != select->integer(4) ||
        (feasible && width.value_or(numbers.size()) != numbers.size())) {
      select->reset();
      return database.damaged(fmt::format("row {} of problem {:016x} is not as it was written", position, problem.key));
    }
    if (feasible) width = numbers.size();
    if (!visit(design, hash, outcome)) break;
  }
  select->reset();
  return Done{};
}

// Takes in what the file has beyond `rows`.
Result<Done> Store::State::read_rows(Problem& problem) {
  return each_row(problem, problem.rows, [&](std::string_view, const DesignHash& hash, const StoredOutcome& outcome) {
    if (!problem.table.add(hash, outcome)) overtaken.insert({problem.key, hash});
    ++problem.rows;
    return true;
  });
}

Result<Done> Store::State::write_pending() {
  ++transaction;
  // Neighbours in the file one after the other: SQLite finds their page at hand.
  std::ranges::stable_sort(pending, {}, [](const Pending& entry) { return entry.problem->number; });
  for (const Pending& entry : pending) {
    Problem& problem = *entry.problem;
    if (problem.caught_up != transaction) {
      TW_TRY([[maybe_unused]] const Done read, read_rows(problem));
      problem.caught_up = transaction;
      problem.next_row = problem.rows;
    }
    if (!overtaken.empty() && overtaken.contains({problem.key, entry.hash})) continue;
    const StoredOutcome outcome = *problem.table.find(entry.hash);
    insert->bind(1, place_of(problem, problem.next_row++));
    insert->bind_blob(2, std::string_view(designs).substr(entry.offset, entry.size));
    if (outcome.feasible) {
      insert->bind_null(3);
      insert->bind_blob(4, bytes_of(outcome.numbers));
    } else {
      insert->bind(3, outcome.reason);
      insert->bind_null(4);
    }
    insert->bind(5, checksum_of(problem.key, entry.hash, outcome));
    TW_TRY([[maybe_unused]] const Done written, insert->run());
  }
  return database.run("COMMIT");
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  TW_TRY(Database opened, Database::open(path, patience));
  auto state = std::make_unique<State>(std::move(opened));
  Database& database = state->database;
  TW_TRY(const bool fresh, is_new(database));
  if (fresh) {
    TW_TRY([[maybe_unused]] const Done logged, database.use_log());
    TW_TRY([[maybe_unused]] const Done created, create(database));
  }
  TW_TRY([[maybe_unused]] const Done known, check_identity(database, path.string()));
  TW_TRY([[maybe_unused]] const Done logged, database.use_log());
  TW_TRY([[maybe_unused]] const Done prepared, state->prepare_statements());
  return Store(std::move(state));
}

Result<Store> Store::open_to_read(const std::filesystem::path& path) {
  TW_TRY(Database opened, Database::open_to_read(path));
  auto state = std::make_unique<State>(std::move(opened));
  TW_TRY([[maybe_unused]] const Done known, check_identity(state->database, path.string()));
  TW_TRY([[maybe_unused]] const Done prepared, state->prepare_statements());
  return Store(std::move(state));
}

Result<std::int64_t> Store::points(const std::filesystem::path& path) {
  TW_TRY(Database database, Database::open_to_read(path));
  TW_TRY([[maybe_unused]] const Done known, check_identity(database, path.string()));
  return database.number("SELECT count(*) FROM outcome");
}

Result<std::int64_t> Store::check(const std::filesystem::path& path) {
  TW_TRY(Database opened, Database::open_to_read(path));
  State state(std::move(opened));
  TW_TRY([[maybe_unused]] const Done known, check_identity(state.database, path.string()));
  TW_TRY([[maybe_unused]] const Done whole, state.database.check_integrity());
  TW_TRY([[maybe_unused]] const Done prepared, state.prepare_statements());
  std::vector<State::Problem> problems;
  {
    TW_TRY(Statement keys, state.database.prepare("SELECT number, key FROM problem ORDER BY number"));
    for (;;) {
      TW_TRY(const bool row, keys.step());
      if (!row) break;
      State::Problem problem;
      problem.number = keys.integer(0);
      problem.key = static_cast<std::uint64_t>(keys.integer(1));
      problems.push_back(std::move(problem));
    }
  }
  std::int64_t points = 0;
  for (State::Problem& problem : problems) {
    TW_TRY([[maybe_unused]] const Done read, state.read_rows(problem));
    points += problem.rows;
    problem.table = {};
  }
  TW_TRY(const std::int64_t rows, state.database.number("SELECT count(*) FROM outcome"));
  if (rows != points) return state.database.damaged(fmt::format("{} of {} rows are of no problem", rows - points, rows));
  return points;
}

Result<Done> Store::add_problem(std::uint64_t key, const std::string& text) {
  State& state = *state_;
  if (state.problems.contains(key)) return Done{};
  TW_TRY(std::optional<std::int64_t> number, state.number_of(key));
  if (!number) {
    state.add_problem->bind(1, static_cast<std::int64_t>(key));
    state.add_problem->bind_text(2, text);
    TW_TRY([[maybe_unused]] const Done added, state.add_problem->run());
    TW_TRY(number, state.number_of(key));
  }
  State::Problem& problem = state.problems[key];
  problem.key = key;
  problem.number = number.value_or(0);
  Result<Done> read = state.read_rows(problem);
  if (!read) state.problems.erase(key);
  return read;
}

Result<Done> Store::each(std::uint64_t key, const Visit& visit) {
  TW_TRY(const std::optional<std::int64_t> number, state_->number_of(key));
  if (!number) return Done{};
  State::Problem problem;
  problem.key = key;
  problem.number = *number;
  return state_->each_row(problem, 0, [&](std::string_view design, const DesignHash&, const StoredOutcome& outcome) {
    return visit(design, outcome);
  });
}

std::optional<StoredOutcome> Store::find(std::uint64_t problem, std::string_view design) const {
  const auto found = state_->problems.find(problem);
  if (found == state_->problems.end()) return std::nullopt;
  return found->second.table.find(hash_of_design(design));
}

void Store::put(std::uint64_t problem, std::string_view design, const StoredOutcome& outcome) {
  State& state = *state_;
  const auto found = state.problems.find(problem);
  TW_ASSERT(found != state.problems.end());
  const DesignHash hash = hash_of_design(design);
  if (!found->second.table.add(hash, outcome)) return;
  state.pending.push_back({&found->second, hash, state.designs.size(), design.size()});
  state.designs += design;
}

Result<Done> Store::commit() {
  State& state = *state_;
  if (state.pending.empty()) return Done{};
  TW_TRY([[maybe_unused]] const Done begun, state.database.run("BEGIN IMMEDIATE"));
  if (Result<Done> written = state.write_pending(); !written) {
    // What failed may have ended the transaction by itself; then there is nothing to roll back.
    [[maybe_unused]] const Result<Done> rolled_back = state.database.run("ROLLBACK");
    return written;
  }
  for (const State::Pending& entry : state.pending) entry.problem->rows = entry.problem->next_row;
  state.pending.clear();
  state.designs.clear();
  state.overtaken.clear();
  return Done{};
}

Result<std::vector<Store::Problem>> Store::problems() {
  TW_TRY(Statement rows, state_->database.prepare("SELECT key, text FROM problem ORDER BY number"));
  std::vector<Problem> problems;
  for (;;) {
    TW_TRY(const bool row, rows.step());
    if (!row) return problems;
    problems.push_back({static_cast<std::uint64_t>(rows.integer(0)), std::string(rows.blob(1))});
  }
}

Result<std::int64_t> merge(Store& into, Store& from) {
  constexpr std::int64_t kPerCommit = 100'000;
  std::int64_t added = 0, pending = 0;
  TW_TRY(const std::vector<Store::Problem> problems, from.problems());
  for (const Store::Problem& problem : problems) {
    TW_TRY([[maybe_unused]] const Done known, into.add_problem(problem.key, problem.text));
    const std::int64_t before = into.count(problem.key);
    Result<Done> committed = Done{};
    TW_TRY([[maybe_unused]] const Done read,
           from.each(problem.key, [&](std::string_view design, const StoredOutcome& outcome) {
             into.put(problem.key, design, outcome);
             if (++pending % kPerCommit == 0) committed = into.commit();
             return static_cast<bool>(committed);
           }));
    if (!committed) return committed.error();
    added += into.count(problem.key) - before;
  }
  TW_TRY([[maybe_unused]] const Done written, into.commit());
  return added;
}

Result<Done> Store::settle() {
  TW_TRY(Statement checkpoint, state_->database.prepare("PRAGMA wal_checkpoint(TRUNCATE)"));
  TW_TRY(const bool row, checkpoint.step());
  if (row && checkpoint.integer(0) == 0) return Done{};
  return state_->database.busy();
}

std::int64_t Store::count(std::uint64_t problem) const {
  const auto found = state_->problems.find(problem);
  return found == state_->problems.end() ? 0 : static_cast<std::int64_t>(found->second.table.size());
}

std::optional<std::size_t> Store::number_count(std::uint64_t problem) const {
  const auto found = state_->problems.find(problem);
  if (found == state_->problems.end()) return std::nullopt;
  return found->second.table.width();
}

}  // namespace tilewright
