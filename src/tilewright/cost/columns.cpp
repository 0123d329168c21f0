#include "tilewright/cost/columns.hpp"

#include <cmath>
#include <cstdio>
#include <iterator>

#include <fmt/format.h>

#include "tilewright/base/csv.hpp"
#include "tilewright/cost/plan.hpp"

namespace tilewright {
namespace {

// Where the CSV has blanks in front of a header or a number, so do these.
constexpr std::array<Column, kColumnCount> kColumns = {{
    {"num_pes", " NumPEs"},
    {"runtime", " Runtime (Cycles)"},
    {"energy_nj", " Activity count-based Energy (nJ)"},
    {"throughput", " Throughput (MACs/Cycle)"},
    {"thrpt_per_energy", " Throughput Per Energy (GMACs/s*J)"},
    {"area", " Area"},
    {"power", " Power"},
    {"noc_bw_req", " NoC BW Req (Elements/cycle)"},
    {"avg_bw_req", " Avg BW Req"},
    {"peak_bw_req", " Peak BW Req"},
    {"vector_width", " Vector Width"},
    {"offchip_bw_req", " Offchip BW Req (Elements/cycle)"},
    {"l2_size", "  L2 SRAM Size Req (Bytes)"},
    {"l1_size", " L1 SRAM Size Req (Bytes)"},
    {"mcast_weight", " Multicasting Factor (Weight)"},
    {"mcast_input", " Multicasting Factor (Input)"},
    {"num_input", " Num Total Input Pixels"},
    {"num_weight", " Num Total Weight Pixels"},
    {"ops_per_joule", " Ops/J"},
    {"num_macs", " Num MACs"},
    {"pe_power", " PE power"},
    {"l1_power", " L1 power"},
    {"l2_power", " L2 power"},
    {"noc_power", " NOC power"},
    {"in_l1_rd", " input l1 read"},
    {"in_l1_wr", " input l1 write"},
    {"in_l2_rd", " input l2 read"},
    {"in_l2_wr", " input l2 write"},
    {"in_reuse", " input reuse factor"},
    {"w_l1_rd", "filter l1 read"},
    {"w_l1_wr", " filter l1 write"},
    {"w_l2_rd", " filter l2 read"},
    {"w_l2_wr", " filter l2 write"},
    {"w_reuse", " filter reuse factor"},
    {"out_l1_rd", "output l1 read"},
    {"out_l1_wr", " output l1 write"},
    {"out_l2_rd", " output l2 read"},
    {"out_l2_wr", " output l2 write"},
    {"out_reuse", " output reuse factor"},
    {"ingress_min", "Ingress Delay (Min)"},
    {"ingress_max", " Ingress Delay (Max)"},
    {"ingress_avg", " Ingress Delay (Avg)"},
    {"egress_min", " Egress Delay (Min)"},
    {"egress_max", " Egress Delay (Max)"},
    {"egress_avg", "  Egress Delay (Avg)"},
    {"compute_min", "Compute Delay (Min)"},
    {"compute_max", " Compute Delay (Min)"},
    {"compute_avg", " Compute Delay (Avg)"},
    {"avg_util_pes", "Avg number of utilized PEs"},
    {"arith_intensity", " Arithmetic Intensity"},
    {"l2_req_in", ""},
    {"l1_req_in", ""},
    {"l2_req_w", ""},
    {"l1_req_w", ""},
    {"l2_req_out", ""},
    {"l1_req_out", ""},
}};
constexpr std::size_t kCsvColumnCount = 50;
constexpr std::size_t kFirstBlank = 25;  // from the second traffic column on, numbers follow a comma and a blank

class RowWriter {
 public:
  explicit RowWriter(Model model) : keeps_infinities_(is_maestro(model)) {}
  void integer(std::int64_t number) { row_[next_++] = {ColumnValue::Kind::Integer, number, 0, 0}; }
  void unknown() { row_[next_++] = {ColumnValue::Kind::Unknown, 0, 0, 0}; }
  void real(double number) {
    if (!keeps_infinities_ && !std::isfinite(number)) return unknown();
    row_[next_++] = {ColumnValue::Kind::Real, 0, number, 0};
  }
  void long_real(long double number) {
    if (!keeps_infinities_ && !std::isfinite(number)) return unknown();
    row_[next_++] = {ColumnValue::Kind::LongReal, 0, 0, number};
  }
  Row finish() const {
    TW_ASSERT(next_ == kColumnCount);
    return row_;
  }

 private:
  Row row_;
  std::size_t next_ = 0;
  bool keeps_infinities_;  // MAESTRO prints ratios of nothing as they come; to us they are unknown
};

std::int64_t elements(const Nest& nest, const Tensors& tensors, Operand operand) {
  std::int64_t product = 1;
  for (const Dim dim : tensors.dims[static_cast<std::size_t>(operand)]) product *= nest[dim];
  return product;
}

double ratio(std::int64_t a, std::int64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

const std::array<Column, kColumnCount>& columns() { return kColumns; }

Row row_of(const Cost& cost, const Nest& nest, const Accelerator& accelerator, Model model) {
  const Tensors tensors = tensors_of(nest, model);
  const double macs = static_cast<double>(cost.macs.value);
  RowWriter row(model);
  row.integer(accelerator.pes);
  row.integer(cost.runtime.value);
  row.real(cost.energy.value);
  row.real(macs / static_cast<double>(cost.runtime.value));
  row.real(static_cast<double>(static_cast<long double>(cost.macs.value) / static_cast<long double>(cost.runtime.value) /
                               static_cast<long double>(cost.energy.value) * 1000000000));
  cost.area ? row.real(cost.area->value) : row.unknown();
  row.real(cost.power.value);
  row.integer(cost.peak_bandwidth);
  row.real(cost.detail.mean_bandwidth);
  row.integer(cost.peak_bandwidth);
  row.integer(accelerator.simd_lanes);
  row.integer(cost.offchip_bandwidth);
  row.integer(cost.l2.value);
  row.integer(cost.l1.value);
  const Traffic& input = cost.traffic[static_cast<std::size_t>(Operand::Input)];
  const Traffic& weight = cost.traffic[static_cast<std::size_t>(Operand::Weight)];
  row.real(ratio(weight.l1_write, weight.l2_read));
  row.real(ratio(input.l1_write, input.l2_read));
  row.integer(nest.declared_input != 0 ? nest.declared_input : elements(nest, tensors, Operand::Input));
  row.integer(nest.declared_weight != 0 ? nest.declared_weight : elements(nest, tensors, Operand::Weight));
  row.real(macs / cost.energy.value * 1000000000);
  row.integer(cost.macs.value);
  row.real(cost.power_parts.pe.value);
  row.real(cost.power_parts.l1.value);
  row.real(cost.power_parts.l2.value);
  row.real(cost.power_parts.noc.value);
  for (const Traffic& traffic : cost.traffic) {
    row.integer(traffic.l1_read);
    row.integer(traffic.l1_write);
    row.integer(traffic.l2_read);
    row.integer(traffic.l2_write);
    row.long_real(static_cast<long double>(traffic.l1_read) / static_cast<long double>(traffic.l1_write));
  }
  for (const Delay& delay : {cost.detail.ingress, cost.detail.egress, cost.detail.compute}) {
    row.integer(delay.least);
    row.integer(delay.most);
    row.integer(delay.mean);
  }
  row.real(cost.detail.utilised_pes);
  row.real(cost.detail.arithmetic_intensity);
  for (std::size_t operand = 0; operand < kOperandCount; ++operand) {
    row.integer(cost.l2_need[operand]);
    row.integer(cost.l1_need[operand]);
  }
  return row.finish();
}

void append_text(std::string& out, const ColumnValue& value) {
  switch (value.kind) {
    case ColumnValue::Kind::Integer: {
      const fmt::format_int text(value.integer);
      out.append(text.data(), text.size());
      break;
    }
    case ColumnValue::Kind::Real:
      if (std::isfinite(value.real)) {
        fmt::format_to(std::back_inserter(out), "{:g}", value.real);
      } else {
        out += std::isinf(value.real) ? (value.real < 0 ? "-inf" : "inf") : (std::signbit(value.real) ? "-nan" : "nan");
      }
      break;
    case ColumnValue::Kind::LongReal: {
      char text[64];
      out.append(text, static_cast<std::size_t>(std::snprintf(text, sizeof text, "%Lg", value.long_real)));
      break;
    }
    case ColumnValue::Kind::Unknown:
      break;
  }
}

void append_json(std::string& out, const ColumnValue& value) {
  if (value.kind == ColumnValue::Kind::Unknown) {
    out += "null";
    return;
  }
  const bool finite = value.kind == ColumnValue::Kind::Integer ||
                      (value.kind == ColumnValue::Kind::Real ? std::isfinite(value.real) : std::isfinite(value.long_real));
  if (!finite) out += '"';
  append_text(out, value);
  if (!finite) out += '"';
}

std::string csv_header() {
  std::string line = "Neural Network Name, Layer Number";
  for (std::size_t i = 0; i < kCsvColumnCount; ++i) {
    line += ',';
    line += kColumns[i].header;
  }
  return line;
}

std::string csv_row(const std::string& network, const std::string& layer, const Row& row) {
  std::string line = csv_cell(network) + ',' + csv_cell(layer);
  for (std::size_t i = 0; i < kCsvColumnCount; ++i) {
    line += i < kFirstBlank ? "," : ", ";
    append_text(line, row[i]);
  }
  return line;
}

}  // namespace tilewright
