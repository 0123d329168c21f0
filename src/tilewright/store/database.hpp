// As much of SQLite as a store needs, with its failures as sentences that name the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "tilewright/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tilewright {

class Statement;

class Database {
 public:
  // Opens or makes the file; waits for up to `patience` while others write.
  static Result<Database> open(const std::filesystem::path& path, std::chrono::milliseconds patience);

  // A file that is there, without writing anything.
  static Result<Database> open_to_read(const std::filesystem::path& path);

  Result<Statement> prepare(std::string_view sql);
  Result<Done> run(const std::string& sql);  // any number of statements, rows ignored
  Result<std::int64_t> number(std::string_view sql);
  // Write-ahead logging: readers and a writer at the same time, and a commit needs no fsync to survive kill -9.
  Result<Done> use_log();

  // SQLite's own: pages, trees, indices.
  Result<Done> check_integrity();

  Error damaged(const std::string& detail) const;
  Error busy() const;  // somebody else keeps it locked

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database() = default;
  Error error_of(int code) const;  // the last failure, as a sentence

  std::unique_ptr<sqlite3, Close> handle_;
  std::string name_;
  std::chrono::milliseconds patience_{};
};

// A prepared statement; parameters count from 1, columns from 0. The database outlives it and stays where it is.
class Statement {
 public:
  void bind(int parameter, std::int64_t value);
  void bind_text(int parameter, std::string_view text);
  void bind_blob(int parameter, std::string_view bytes);  // bytes stay alive until the next reset
  void bind_null(int parameter);

  Result<bool> step();  // true: there is a row
  void reset();
  Result<Done> run();  // step to the end, and reset

  bool is_null(int column) const;
  std::int64_t integer(int column) const;
  std::string_view blob(int column) const;  // until the next step

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  Statement(const Database* database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace tilewright
