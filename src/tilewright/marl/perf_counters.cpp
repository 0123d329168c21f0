#include "tilewright/marl/perf_counters.hpp"

#include <cerrno>
#include <cstring>

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "tilewright/base/file.hpp"
#include "tilewright/base/text.hpp"

namespace tilewright {
namespace {

constexpr std::uint64_t kDtlbLoadMisses =
    PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;

int open_event(std::uint32_t type, std::uint64_t config, int leader) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = type;
  attributes.config = config;
  attributes.read_format = PERF_FORMAT_GROUP;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

std::string why_no_counters(int error_number) {
  if (error_number == EACCES || error_number == EPERM) {
    const auto level = read_file("/proc/sys/kernel/perf_event_paranoid");
    if (!level) return "perf_event_open: the kernel refuses";
    return fmt::format("perf_event_open: the kernel refuses (kernel.perf_event_paranoid is {})", trim(*level));
  }
  if (error_number == ENOENT || error_number == EOPNOTSUPP || error_number == ENODEV) {
    return "perf_event_open: this (virtual) machine has no counters of cache and dTLB misses";
  }
  if (error_number == ENOSYS) return "perf_event_open: this kernel was built without it";
  return fmt::format("perf_event_open: {}", std::strerror(error_number));
}

PerfCounters::~PerfCounters() { close(); }

void PerfCounters::close() {
  if (member_ >= 0) ::close(member_);
  if (leader_ >= 0) ::close(leader_);
  leader_ = member_ = -1;
}

const std::string& PerfCounters::open() {
  const long thread = syscall(SYS_gettid);
  if (thread == thread_) return why_not_;
  close();
  thread_ = thread;
  why_not_.clear();
  leader_ = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, -1);
  if (leader_ >= 0) member_ = open_event(PERF_TYPE_HW_CACHE, kDtlbLoadMisses, leader_);
  if (member_ < 0) {
    why_not_ = why_no_counters(errno);
    close();
  }
  return why_not_;
}

std::array<std::uint64_t, 2> PerfCounters::read() const {
  struct {
    std::uint64_t count;
    std::array<std::uint64_t, 2> values;
  } group{};
  if (!counting() || ::read(leader_, &group, sizeof group) != sizeof group) return {};
  return group.values;
}

}  // namespace tilewright
