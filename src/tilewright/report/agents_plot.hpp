// The correlation matrix and its dendrogram as reports draw them.
#pragma once

#include "tilewright/report/matrix_plot.hpp"
#include "tilewright/study/agents_result.hpp"

namespace tilewright {

ClusterMap cluster_map(const ClusteredAgents& found);

}  // namespace tilewright
