#include "tilewright/workload/network.hpp"

namespace tilewright {
namespace {

std::string csv_complaint(const std::string& text) {
  const Result<Network> network = network_from_gamma_csv(text, "net.csv");
  return network ? "nothing" : network.error().message;
}

TEST(GammaCsv, EveryTypeBecomesItsLayer) {
  const Result<Network> network = network_from_gamma_csv(
      "K,C,Y,X,R,S,T\n"
      "64,3,224,220,7,5,1\n"
      "1,32,112,112,3,3,2\n"
      "512,768,64,1,1,1,3\n"
      "10,20,1,1,1,1,0\n",
      "models/mine.csv");
  ASSERT_TRUE(network) << network.error().message;
  EXPECT_EQ(network->name, "mine");
  ASSERT_EQ(network->layers.size(), 4u);
  EXPECT_EQ(
      network->layers[0].layer,
      convolution(
          "L1",
          {.out_channels = 64, .in_channels = 3, .in_height = 224, .in_width = 220, .kernel_height = 7, .kernel_width = 5}));
  EXPECT_EQ(network->layers[1].layer, convolution("L2", {.out_channels = 32,
                                                         .in_channels = 32,
                                                         .in_height = 112,
                                                         .in_width = 112,
                                                         .kernel_height = 3,
                                                         .kernel_width = 3,
                                                         .groups = 32}));
  EXPECT_EQ(network->layers[2].layer, matrix_multiply("L3", {.rows = 512, .inner = 64, .columns = 768}));
  EXPECT_EQ(network->layers[3].layer, fully_connected("L4", 1, 20, 10));
  EXPECT_TRUE(network->layers[0].inputs.empty());
  EXPECT_EQ(network->layers[3].inputs, std::vector<std::size_t>{2});
}

TEST(GammaCsv, HeadersOfMatrixAndFullyConnectedTables) {
  EXPECT_EQ(csv_complaint("M,N,K,0,0,0,T\n512,64,512,1,1,1,3\n\n"), "nothing");
  EXPECT_EQ(csv_complaint("O,I,0,0,0,0,T\r\n256,128,1,1,1,1,0\r\n"), "nothing");
  EXPECT_EQ(csv_complaint("K, C, Y, X, R, S, T\n 8, 8, 4, 4, 1, 1, 1 "), "nothing");
}

TEST(GammaCsv, OneChannelDepthwiseStaysDepthwise) {
  const Result<Network> network = network_from_gamma_csv("K,C,Y,X,R,S,T\n1,1,9,9,3,3,2\n", "net.csv");
  ASSERT_TRUE(network);
  EXPECT_EQ(network->layers[0].layer.op, Operator::Depthwise);
}

TEST(GammaCsv, MalformedTablesNameTheirLine) {
  const std::string header = "K,C,Y,X,R,S,T\n";
  EXPECT_EQ(csv_complaint(""), "net.csv:1: header is '', expected 'K,C,Y,X,R,S,T'");
  EXPECT_EQ(csv_complaint("8,8,4,4,1,1,1\n"), "net.csv:1: header is '8,8,4,4,1,1,1', expected 'K,C,Y,X,R,S,T'");
  EXPECT_EQ(csv_complaint(header), "net.csv: has a header and no rows, expected at least one layer");
  EXPECT_EQ(csv_complaint(header + "8,8,4,4,1,1\n"), "net.csv:2: row has 6 columns, expected 7");
  EXPECT_EQ(csv_complaint(header + "\n8,8,4,4.5,1,1,1\n"), "net.csv:3: column 4 is '4.5', expected a whole number");
  EXPECT_EQ(csv_complaint(header + "8,8,4,4,1,1,7\n"),
            "net.csv:2: layer 'L1': T is 7, expected 0 (fc), 1 (conv), 2 (depthwise) or 3 (matmul)");
  EXPECT_EQ(csv_complaint(header + "8,8,4,4,5,1,1\n"),
            "net.csv:2: layer 'L1': kernel reaches over 5 rows, expected at most 4, which is input and padding");
  EXPECT_EQ(csv_complaint(header + "8,0,4,4,1,1,1\n"), "net.csv:2: layer 'L1': input channels is 0, expected at least 1");
  EXPECT_EQ(csv_complaint(header + "5,8,4,4,1,1,2\n"),
            "net.csv:2: layer 'L1': K is 5, expected 1 or C, which is 8, for a depthwise layer");
}

}  // namespace
}  // namespace tilewright
