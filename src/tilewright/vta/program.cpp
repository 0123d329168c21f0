#include "tilewright/vta/program.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "tilewright/base/checksum.hpp"

namespace tilewright::vta {
namespace {

constexpr std::string_view kMagic = "VTAPROG1";
constexpr std::size_t kHeaderBytes = 16;
constexpr std::size_t kEntryBytes = 24;
constexpr std::size_t kChecksumAt = 12;

std::uint64_t little(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

void put_little(std::vector<std::uint8_t>& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// Of all bytes but its own four; never 0, which says that there is none.
std::uint32_t checksum_of(std::span<const std::uint8_t> bytes) {
  const auto part = [&](std::size_t begin, std::size_t end) {
    return checksum({reinterpret_cast<const char*>(bytes.data()) + begin, end - begin});
  };
  const std::uint64_t all = part(0, kChecksumAt) * 0x9E3779B97F4A7C15u ^ part(kHeaderBytes, bytes.size());
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(all ^ all >> 32));
}

bool has_payload(SectionKind kind) {
  return kind == SectionKind::Data || kind == SectionKind::MicroOps || kind == SectionKind::Stream;
}

}  // namespace

Result<Program> program_from_bytes(std::span<const std::uint8_t> bytes, const std::string& where) {
  if (bytes.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
    return invalid(fmt::format("bad_magic: {}: does not begin with {}, expected a program", where, kMagic));
  }
  if (bytes.size() < kHeaderBytes) {
    return invalid(fmt::format("truncated: {}: has {} bytes, expected at least {}", where, bytes.size(), kHeaderBytes));
  }
  const std::uint64_t section_count = little(bytes.subspan(8, 4));
  // Compared by division: a count that lies asks for no memory.
  if (section_count > (bytes.size() - kHeaderBytes) / kEntryBytes) {
    return invalid(fmt::format("truncated: {}: ends inside the table of {} sections, expected at least {} bytes, not {}",
                               where, section_count, kHeaderBytes + kEntryBytes * section_count, bytes.size()));
  }

  Program program;
  program.sections.reserve(section_count);
  std::size_t at = kHeaderBytes + kEntryBytes * section_count;
  for (std::uint64_t i = 0; i < section_count; ++i) {
    const auto entry = bytes.subspan(kHeaderBytes + kEntryBytes * i, kEntryBytes);
    Section section{.kind = static_cast<SectionKind>(little(entry.subspan(0, 4))),
                    .tag = static_cast<std::uint32_t>(little(entry.subspan(4, 4))),
                    .address = little(entry.subspan(8, 8)),
                    .size = little(entry.subspan(16, 8)),
                    .bytes = {}};
    const auto kind = static_cast<std::uint32_t>(section.kind);
    if (kind < 1 || kind > 5) {
      return invalid(fmt::format("bad_section: {}: section {} is of kind {}, expected 1 to 5", where, i, kind));
    }
    if (has_payload(section.kind)) {
      if (section.size > bytes.size() - at) {
        return invalid(fmt::format("truncated: {}: ends {} bytes before the end of section {}, which says it has {} bytes",
                                   where, section.size - (bytes.size() - at), i, section.size));
      }
      const auto payload = bytes.subspan(at, section.size);
      section.bytes.assign(payload.begin(), payload.end());
      at += section.size;
    }
    program.sections.push_back(std::move(section));
  }
  if (at != bytes.size()) {
    return invalid(
        fmt::format("bad_section: {}: {} bytes follow the last section, expected none", where, bytes.size() - at));
  }
  const auto claimed = static_cast<std::uint32_t>(little(bytes.subspan(kChecksumAt, 4)));
  if (claimed == 0) return program;  // of others, who write none
  const std::uint32_t is = checksum_of(bytes);
  if (claimed == is) return program;
  return invalid(fmt::format("bad_checksum: {}: the checksum of its bytes is {:08x}, the file says {:08x}: it was changed",
                             where, is, claimed));
}

std::vector<std::uint8_t> to_bytes(const Program& program) {
  std::vector<std::uint8_t> bytes(kMagic.begin(), kMagic.end());
  put_little(bytes, program.sections.size(), 4);
  put_little(bytes, 0, 4);
  for (const Section& section : program.sections) {
    TW_ASSERT(!has_payload(section.kind) || section.bytes.size() == section.size);
    put_little(bytes, static_cast<std::uint32_t>(section.kind), 4);
    put_little(bytes, section.tag, 4);
    put_little(bytes, section.address, 8);
    put_little(bytes, section.size, 8);
  }
  for (const Section& section : program.sections) {
    if (has_payload(section.kind)) bytes.insert(bytes.end(), section.bytes.begin(), section.bytes.end());
  }
  return bytes;
}

std::vector<std::uint8_t> to_file(const Program& program) {
  std::vector<std::uint8_t> bytes = to_bytes(program);
  const std::uint32_t checksum = checksum_of(bytes);
  for (std::size_t i = 0; i < 4; ++i) bytes[kChecksumAt + i] = static_cast<std::uint8_t>(checksum >> (8 * i));
  return bytes;
}

}  // namespace tilewright::vta
