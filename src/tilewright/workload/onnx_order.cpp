#include "tilewright/workload/onnx_order.hpp"

#include <onnx/onnx_pb.h>

#include <functional>
#include <queue>
#include <set>
#include <unordered_map>

#include "tilewright/workload/onnx_graph.hpp"

namespace tilewright::onnx_file {
namespace {

using Producers = std::unordered_map<std::string, int>;

void add_reads(const onnx::NodeProto& node, std::set<std::string>& reads);

void add_outside_reads(const onnx::GraphProto& graph, std::set<std::string>& reads) {
  std::set<std::string> inner;
  for (const auto& node : graph.node()) add_reads(node, inner);
  for (const auto& output : graph.output()) inner.insert(output.name());
  for (const auto& node : graph.node()) {
    for (const auto& name : node.output()) inner.erase(name);
  }
  for (const auto& input : graph.input()) inner.erase(input.name());
  for (const auto& tensor : graph.initializer()) inner.erase(tensor.name());
  reads.merge(inner);
}

// Names that `node` reads, those included that its own graphs read from outside.
void add_reads(const onnx::NodeProto& node, std::set<std::string>& reads) {
  reads.insert(node.input().begin(), node.input().end());
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) add_outside_reads(attribute.g(), reads);
    for (const auto& graph : attribute.graphs()) add_outside_reads(graph, reads);
  }
}

std::vector<int> producers_of(const onnx::NodeProto& node, const Producers& producers) {
  std::set<std::string> reads;
  add_reads(node, reads);
  std::vector<int> found;
  for (const auto& name : reads) {
    const auto producer = producers.find(name);
    if (producer != producers.end()) found.push_back(producer->second);
  }
  return found;
}

// Follows nodes that wait for each other until one comes up again: that one is on the cycle.
int on_cycle(int start, const Nodes& nodes, const Producers& producers, const std::vector<int>& waits_for) {
  std::set<int> seen;
  int at = start;
  while (seen.insert(at).second) {
    for (const int producer : producers_of(nodes.Get(at), producers)) {
      if (waits_for[static_cast<std::size_t>(producer)] == 0) continue;
      at = producer;
      break;
    }
  }
  return at;
}

}  // namespace

Result<std::vector<int>> order_of(const Nodes& nodes) {
  Producers producers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const auto& name : nodes.Get(i).output()) {
      if (name.empty()) continue;
      if (!producers.emplace(name, i).second) return invalid("tensor " + quoted_name(name) + " is computed by two nodes");
    }
  }
  std::vector<std::vector<int>> readers(static_cast<std::size_t>(nodes.size()));
  std::vector<int> waits_for(static_cast<std::size_t>(nodes.size()), 0);
  for (int i = 0; i < nodes.size(); ++i) {
    for (const int producer : producers_of(nodes.Get(i), producers)) {
      readers[static_cast<std::size_t>(producer)].push_back(i);
      ++waits_for[static_cast<std::size_t>(i)];
    }
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    if (waits_for[static_cast<std::size_t>(i)] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const int reader : readers[static_cast<std::size_t>(i)]) {
      if (--waits_for[static_cast<std::size_t>(reader)] == 0) ready.push(reader);
    }
  }
  for (int i = 0; i < nodes.size(); ++i) {
    if (waits_for[static_cast<std::size_t>(i)] == 0) continue;
    const onnx::NodeProto& node = nodes.Get(on_cycle(i, nodes, producers, waits_for));
    return invalid(describe(node) + " needs its own result, expected a graph without cycles");
  }
  return order;
}

std::string describe(const onnx::NodeProto& node) {
  if (!node.name().empty()) return "node " + quoted_name(node.name());
  if (node.output_size() > 0) return "node " + quoted_name(node.op_type()) + " of " + quoted_name(node.output(0));
  return "node " + quoted_name(node.op_type());
}

}  // namespace tilewright::onnx_file
