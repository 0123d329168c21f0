// A library to preload: it lets one call of a kind fail, as a machine with bad luck would, or counts them.
//
//   TILEWRIGHT_FAULT=write:17    the 17th write fails; write:17+ and all that follow
//   TILEWRIGHT_FAULT_COUNT=FILE  how many calls of each kind there were goes into FILE: "write 20\n…"
//
// Kinds: alloc, write, fsync, rename, thread, open; and clock, whose times of day jump back and forth by a year from that
// call on. Calls count from the moment main begins.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum Kind { kAlloc, kWrite, kFsync, kRename, kThread, kOpen, kClock, kKinds };
constexpr const char* kNames[kKinds] = {"alloc", "write", "fsync", "rename", "thread", "open", "clock"};

std::atomic<bool> armed = false;
std::atomic<long> counts[kKinds];
int fault_kind = -1;
long fault_at = 0;
bool fault_stays = false;
const char* count_file = nullptr;
int (*real_main)(int, char**, char**) = nullptr;

// Whether this call is to fail.
bool is_hit(Kind kind) {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const long number = ++counts[kind];
  return kind == fault_kind && (fault_stays ? number >= fault_at : number == fault_at);
}

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void write_counts() {
  armed = false;
  if (count_file == nullptr) return;
  FILE* file = std::fopen(count_file, "w");
  if (file == nullptr) return;
  for (int kind = 0; kind < kKinds; ++kind) std::fprintf(file, "%s %ld\n", kNames[kind], counts[kind].load());
  std::fclose(file);
}

void read_orders() {
  count_file = std::getenv("TILEWRIGHT_FAULT_COUNT");
  const char* order = std::getenv("TILEWRIGHT_FAULT");
  const char* colon = order == nullptr ? nullptr : std::strchr(order, ':');
  if (colon == nullptr) return;
  for (int kind = 0; kind < kKinds; ++kind) {
    if (std::strncmp(order, kNames[kind], static_cast<size_t>(colon - order)) == 0) fault_kind = kind;
  }
  fault_at = std::strtol(colon + 1, nullptr, 10);
  fault_stays = std::strchr(colon, '+') != nullptr;
}

int armed_main(int argc, char** argv, char** environment) {
  read_orders();
  std::atexit(write_counts);
  armed = true;
  const int code = real_main(argc, argv, environment);
  armed = false;
  return code;
}

}  // namespace

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*loader)(), void* stack) {
  real_main = main;
  return next<decltype(&__libc_start_main)>("__libc_start_main")(armed_main, argc, argv, init, fini, loader, stack);
}

void* malloc(size_t size) noexcept {
  if (is_hit(kAlloc)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) noexcept {
  if (is_hit(kAlloc)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_calloc(count, size);
}

void* realloc(void* old, size_t size) noexcept {
  if (is_hit(kAlloc)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  if (is_hit(kAlloc)) {
    errno = ENOMEM;
    return nullptr;
  }
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, size_t alignment, size_t size) noexcept {
  if (is_hit(kAlloc)) return ENOMEM;
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

// Messages to people are no files.
ssize_t write(int file, const void* bytes, size_t count) {
  static const auto real = next<decltype(&write)>("write");
  if (file > STDERR_FILENO && is_hit(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return real(file, bytes, count);
}

ssize_t pwrite64(int file, const void* bytes, size_t count, off64_t offset) {
  static const auto real = next<decltype(&pwrite64)>("pwrite64");
  if (is_hit(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return real(file, bytes, count, offset);
}

int fsync(int file) {
  static const auto real = next<decltype(&fsync)>("fsync");
  if (is_hit(kFsync)) {
    errno = EIO;
    return -1;
  }
  return real(file);
}

int fdatasync(int file) {
  static const auto real = next<decltype(&fdatasync)>("fdatasync");
  if (is_hit(kFsync)) {
    errno = EIO;
    return -1;
  }
  return real(file);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<decltype(&rename)>("rename");
  if (is_hit(kRename)) {
    errno = EIO;
    return -1;
  }
  return real(from, to);
}

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (is_hit(kOpen)) {
    errno = EMFILE;
    return -1;
  }
  return real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open64");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (is_hit(kOpen)) {
    errno = EMFILE;
    return -1;
  }
  return real(path, flags, mode);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
  static const auto real = next<decltype(&pthread_create)>("pthread_create");
  if (is_hit(kThread)) return EAGAIN;
  return real(thread, attributes, start, argument);
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static const auto real = next<decltype(&clock_gettime)>("clock_gettime");
  const int code = real(clock, time);
  constexpr time_t kYear = 31'536'000;
  if (clock == CLOCK_REALTIME && is_hit(kClock)) time->tv_sec += counts[kClock] % 2 == 0 ? kYear : -kYear;
  return code;
}

time_t time(time_t* result) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
