// What a function hands back when the outside world may be wrong: a value, or an Error with one sentence for the user.
//
//   Result<Network> network = read_network(path);
//   if (!network) return network.error();
//
// TW_TRY does those two lines at once and is the usual form. TW_ASSERT is for promises we make ourselves.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace tilewright {

enum class ErrorCode {
  InvalidInput,  // the input is there but says something we cannot use
  NotFound,      // no such file, layer, name
  Io,            // the operating system refused
};

struct Error {
  ErrorCode code = ErrorCode::InvalidInput;
  std::string message;  // one sentence: where, what is, what was expected, the nearest valid choice
};

// The value of a function that can fail but has nothing to give back. The destructor keeps compilers from calling a Done
// that only TW_TRY looked at unused.
struct Done {
  ~Done() {}
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit on purpose
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

inline Error invalid(std::string message) { return {ErrorCode::InvalidInput, std::move(message)}; }

}  // namespace tilewright

#define TW_DETAIL_JOIN2(a, b) a##b
#define TW_DETAIL_JOIN(a, b) TW_DETAIL_JOIN2(a, b)

// TW_TRY(const Network network, read_network(path));  returns the Error from the enclosing function, or declares `network`.
#define TW_TRY(declaration, ...)                                                                  \
  auto TW_DETAIL_JOIN(tw_result_, __LINE__) = (__VA_ARGS__);                                      \
  if (!TW_DETAIL_JOIN(tw_result_, __LINE__)) return TW_DETAIL_JOIN(tw_result_, __LINE__).error(); \
  declaration = std::move(TW_DETAIL_JOIN(tw_result_, __LINE__)).value()

// Stops a debug or sanitizer build when one of our own promises is broken; costs nothing in a release build.
#ifdef NDEBUG
#define TW_ASSERT(condition) static_cast<void>(0)
#else
#define TW_ASSERT(condition)          \
  ((condition) ? static_cast<void>(0) \
               : (std::fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #condition), std::abort()))
#endif
