#include "tilewright/store/database.hpp"

#include <cctype>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

namespace tilewright {

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

Error Database::damaged(const std::string& detail) const {
  return invalid(fmt::format("{}: the store is damaged ({}), expected a whole one; move it away to begin with an empty one",
                             name_, detail));
}

Error Database::busy() const {
  return {ErrorCode::Io,
          fmt::format("{}: another process kept the store locked for {} s, expected it to let go; wait for it "
                      "to end or use a store of your own",
                      name_, static_cast<double>(patience_.count()) / 1000)};
}

Error Database::error_of(int code) const {
  const std::string detail = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return busy();
    case SQLITE_NOTADB:
      return invalid(fmt::format("{}: the file is no database, expected a store made by tilewright", name_));
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // a table or column is missing
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
      return damaged(detail);
    case SQLITE_FULL:
      return {ErrorCode::Io, fmt::format("{}: the disk is full, expected room for the store", name_)};
    default:
      return {ErrorCode::Io,
              fmt::format("{}: the store cannot be used ({}), expected a file that can be read and written", name_, detail)};
  }
}

Result<Database> Database::open(const std::filesystem::path& path, std::chrono::milliseconds patience) {
  Database database;
  database.name_ = path.string();
  database.patience_ = patience;
  // SQLite names neither of these two.
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return invalid(fmt::format("{}: the path is a folder, expected a file", database.name_));
  }
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) {
    return Error{ErrorCode::NotFound, fmt::format("{}: there is no folder {}, expected one to put the store in",
                                                  database.name_, folder.string())};
  }
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return database.error_of(code);
  sqlite3_busy_timeout(handle, static_cast<int>(patience.count()));
  return database;
}

Result<Database> Database::open_to_read(const std::filesystem::path& path) {
  Database database;
  database.name_ = path.string();
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return Error{ErrorCode::NotFound, fmt::format("{}: no such file", database.name_)};
  }
  // Where nobody has a log open, nothing is to be locked either, so the folder need not be writable.
  std::string name = "file:";
  for (const char c : std::filesystem::absolute(path, ignored).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '_' || c == '-' || c == '.';
    name += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  name += std::filesystem::exists(path.string() + "-wal", ignored) ? "?mode=ro" : "?mode=ro&immutable=1";
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return database.error_of(code);
  return database;
}

Result<Done> Database::check_integrity() {
  TW_TRY(Statement statement, prepare("PRAGMA integrity_check(1)"));
  TW_TRY(const bool row, statement.step());
  const std::string verdict(row ? statement.blob(0) : "");
  if (verdict != "ok") return damaged(verdict);
  return Done{};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                      &handle, nullptr);
  if (code != SQLITE_OK) return error_of(code);
  return Statement(this, handle);
}

Result<Done> Database::run(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(code);
  return Done{};
}

Result<std::int64_t> Database::number(std::string_view sql) {
  TW_TRY(Statement statement, prepare(sql));
  TW_TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<Done> Database::use_log() {
  // Two processes that make one file at the same time: SQLite refuses the second without asking its busy timeout.
  const auto end = std::chrono::steady_clock::now() + patience_;
  int code = SQLITE_OK;
  while (((code = sqlite3_exec(handle_.get(), "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr)) & 0xff) ==
             SQLITE_BUSY &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (code != SQLITE_OK) return error_of(code);
  return run("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=4000; PRAGMA cache_size=-65536");
}

void Statement::bind(int parameter, std::int64_t value) { sqlite3_bind_int64(handle_.get(), parameter, value); }

void Statement::bind_text(int parameter, std::string_view text) {
  sqlite3_bind_text(handle_.get(), parameter, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

void Statement::bind_blob(int parameter, std::string_view bytes) {
  // A null pointer would bind NULL.
  sqlite3_bind_blob(handle_.get(), parameter, bytes.empty() ? "" : bytes.data(), static_cast<int>(bytes.size()),
                    SQLITE_STATIC);
}

void Statement::bind_null(int parameter) { sqlite3_bind_null(handle_.get(), parameter); }

Result<bool> Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const Error error = database_->error_of(code);
  sqlite3_reset(handle_.get());
  return error;
}

void Statement::reset() { sqlite3_reset(handle_.get()); }

Result<Done> Statement::run() {
  TW_TRY(bool row, step());
  while (row) {
    TW_TRY(row, step());
  }
  reset();
  return Done{};
}

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

std::string_view Statement::blob(int column) const {
  const void* bytes = sqlite3_column_blob(handle_.get(), column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

}  // namespace tilewright
