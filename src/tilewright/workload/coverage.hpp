// What of a network an answer is about, and what it leaves out.
//
//   share = multiply-accumulates of the layers answered for / all that can be counted, those left out included
//
// Operators without multiply-accumulates (activations, pools, moved data) are listed too, but take no part in the share.
#pragma once

#include <string>
#include <vector>

#include "tilewright/workload/network.hpp"

namespace tilewright {

struct Coverage {
  Macs macs;                            // of the layers answered for, each as often as it is there
  std::vector<OtherOperator> left_out;  // the network's other operators, and the layers not asked for

  bool operator==(const Coverage&) const = default;
};

// `groups` are those of the network's layers that are answered for.
Coverage coverage_of(const Network& network, const std::vector<LayerGroup>& groups);

double share_of(const Coverage& coverage);   // 0 … 1
bool is_complete(const Coverage& coverage);  // false when the multiply-accumulates of something left out are not known

// One or two sentences for people.
std::string to_text(const Coverage& coverage);

// "2 DeformConv, 17 Relu and 3 more", for sentences.
std::string names_of(const std::vector<OtherOperator>& operators);

}  // namespace tilewright
