#include "tilewright/nn/safetensors.hpp"

#include <cstring>
#include <fstream>
#include <limits>

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../scratch.hpp"
#include "tilewright/base/rng.hpp"

namespace tilewright {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string with_length(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string message_of(const std::string& bytes) {
  const auto file = from_safetensors(bytes, "x.safetensors");
  return file ? "" : file.error().message;
}

std::string message_of_header(const std::string& header, std::size_t data_bytes = 8) {
  return message_of(with_length(header, std::string(data_bytes, '\0')));
}

TEST(Safetensors, WritesTheFormatByteByByte) {
  TensorFile file;
  file.put("b", std::vector<float>{1, -2}, {2, 1});
  file.put("a", std::int64_t{258});
  file.metadata["kind"] = "te\"st";
  const std::string header = R"({"__metadata__":{"kind":"te\"st"},"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[2,1],"data_offsets":[8,16]}})";
  const std::string padded_header = header + std::string((8 - header.size() % 8) % 8, ' ');
  const std::string data("\x02\x01\0\0\0\0\0\0\0\0\x80\x3f\0\0\0\xc0", 16);
  EXPECT_EQ(to_safetensors(file), with_length(padded_header, data));
  EXPECT_EQ(to_safetensors({}), with_length("{}      "));
}

TEST(Safetensors, GivesBackEveryTypeAndName) {
  TensorFile file;
  const std::vector<float> floats = {0.1f, -0.0f, std::numeric_limits<float>::infinity(), 1e-45f};
  const std::vector<double> doubles = {0.1, -1e300};
  const std::vector<std::int64_t> integers = {std::numeric_limits<std::int64_t>::min(), 7};
  file.put("floats", floats, {2, 2});
  file.put("größe/\n", doubles);
  file.put("integers", integers);
  file.put("nothing", std::vector<float>{});
  file.put("one", std::int64_t{-5});
  file.tensors["bytes"] = {TensorType::U8, {3}, std::string("a\0c", 3)};
  file.metadata = {{"", "empty key"}, {"a", ""}};
  const auto again = from_safetensors(to_safetensors(file), "again");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->metadata, file.metadata);
  ASSERT_EQ(again->tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    const Tensor& other = again->tensors.at(name);
    EXPECT_EQ(other.type, tensor.type);
    EXPECT_EQ(other.shape, tensor.shape);
    EXPECT_EQ(other.bytes, tensor.bytes);
  }
  std::vector<float> got_floats(4);
  std::vector<double> got_doubles(2);
  std::vector<std::int64_t> got_integers(2);
  EXPECT_TRUE(again->get("floats", std::span<float>(got_floats)));
  EXPECT_TRUE(again->get("größe/\n", std::span<double>(got_doubles)));
  EXPECT_TRUE(again->get("integers", std::span<std::int64_t>(got_integers)));
  EXPECT_TRUE(again->get("nothing", std::span<float>{}));
  EXPECT_EQ(got_floats, floats);
  EXPECT_EQ(got_doubles, doubles);
  EXPECT_EQ(got_integers, integers);
  EXPECT_EQ(*again->get("one"), -5);
}

TEST(Safetensors, ReadsTensorsInAnyOrderAndSpacing) {
  const auto file = from_safetensors(
      with_length(
          " {\n\"z\" : {\"shape\":[1],\"data_offsets\":[0,4],\"dtype\":\"F32\"}, \"a\":{\"dtype\":\"U8\",\"shape\":[2,1],"
          "\"data_offsets\":[4,6]}}   ",
          std::string("\0\0\x80\x3fxy", 6)),
      "x");
  ASSERT_TRUE(file) << file.error().message;
  std::vector<float> z(1);
  ASSERT_TRUE(file->get("z", std::span<float>(z)));
  EXPECT_EQ(z[0], 1);
  EXPECT_EQ(file->tensors.at("a").bytes, "xy");
}

Mlp random_mlp(const MlpShape& shape, std::uint64_t seed) {
  Mlp mlp(shape);
  Rng rng(seed, "weights");
  for (const TensorPlace& place : mlp.tensors()) {
    const View view = mlp.view(place);
    for (std::size_t row = 0; row < view.rows; ++row) {
      for (std::size_t column = 0; column < view.columns; ++column) {
        view.row(row)[column] = static_cast<float>(rng.uniform());
      }
    }
  }
  return mlp;
}

TEST(Safetensors, NetworksAreStoredWithoutPaddingAndPaddedAgain) {
  const MlpShape shape{.inputs = 3, .hidden = {5, 11}, .outputs = 1};
  const Mlp mlp = random_mlp(shape, 1);
  TensorFile file;
  file.put("actor0", mlp);
  EXPECT_THAT(file.tensors.at("actor0.weight0").shape, ElementsAre(3, 5));
  EXPECT_THAT(file.tensors.at("actor0.bias0").shape, ElementsAre(5));
  EXPECT_THAT(file.tensors.at("actor0.weight1").shape, ElementsAre(5, 11));
  EXPECT_THAT(file.tensors.at("actor0.weight2").shape, ElementsAre(11, 1));
  EXPECT_THAT(file.tensors.at("actor0.bias2").shape, ElementsAre(1));
  EXPECT_EQ(file.tensors.size(), 6u);
  std::vector<float> weight(15);
  ASSERT_TRUE(file.get("actor0.weight0", std::span<float>(weight)));
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(weight[i], mlp.weight(0).row(i / 5)[i % 5]);

  Mlp again(shape);
  std::fill(again.values().begin(), again.values().end(), 9.0f);  // padding included
  ASSERT_TRUE(file.get("actor0", again));
  EXPECT_EQ(std::vector(again.values().begin(), again.values().end()),
            std::vector(mlp.values().begin(), mlp.values().end()));
}

TEST(Safetensors, GetSaysWhatIsThereInstead) {
  TensorFile file;
  file.put("actor0", random_mlp({.inputs = 3, .hidden = {4}, .outputs = 2}, 1));
  file.put("steps", std::int64_t{3});
  std::vector<float> values(2);
  EXPECT_EQ(file.get("step").error().message, "there is no tensor 'step' (did you mean 'steps'?)");
  EXPECT_EQ(file.get("steps", std::span<float>(values)).error().message, "tensor 'steps' has type I64, expected F32");
  EXPECT_EQ(file.get("actor0.bias0", std::span<float>(values)).error().message,
            "tensor 'actor0.bias0' has 4 numbers, expected 2");
  Mlp wider({.inputs = 4, .hidden = {4}, .outputs = 2}), deeper({.inputs = 3, .hidden = {4, 4}, .outputs = 2});
  std::fill(deeper.values().begin(), deeper.values().end(), 9.0f);
  EXPECT_EQ(file.get("actor0", wider).error().message, "tensor 'actor0.weight0' has shape [3, 4], expected [4, 4]");
  EXPECT_EQ(file.get("actor0", deeper).error().message, "tensor 'actor0.weight1' has shape [4, 2], expected [4, 4]");
  EXPECT_EQ(deeper.values()[0], 9.0f) << "a network that cannot be read stays as it was";
}

TEST(Safetensors, FilesAreWrittenWholeAndReadBack) {
  const Scratch scratch;
  const auto path = scratch / "x.safetensors";
  TensorFile file;
  file.put("x", std::vector<float>{1, 2, 3});
  ASSERT_TRUE(write_safetensors(path, file));
  const auto again = read_safetensors(path);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_safetensors(*again), to_safetensors(file));
  std::ofstream(path, std::ios::trunc) << "short";
  EXPECT_EQ(read_safetensors(path).error().message,
            path.string() + ": has 5 bytes, expected at least the 8 of a safetensors header");
  std::filesystem::remove(path);
  EXPECT_EQ(read_safetensors(path).error().message, path.string() + ": no such file");
}

TEST(Safetensors, TruncatedFilesAreNamed) {
  TensorFile file;
  file.put("a", std::vector<float>{1, 2, 3});
  file.put("b", std::vector<double>{1, 2});
  const std::string bytes = to_safetensors(file);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THAT(message_of(bytes.substr(0, length)), HasSubstr("x.safetensors: ")) << length;
  }
  EXPECT_EQ(message_of(bytes.substr(0, 30)),
            "x.safetensors: the header is 112 bytes long, but only 22 follow; expected a whole safetensors file");
  EXPECT_EQ(message_of(bytes.substr(0, bytes.size() - 1)),
            "x.safetensors: tensor 'b' lies at the bytes 12 to 28, expected a place within 27");
  EXPECT_EQ(message_of(bytes + "x"), "x.safetensors: the tensors end at byte 28, expected 29, the end of the file");
}

TEST(Safetensors, HugeHeadersAreRefusedBeforeTheyAreRead) {
  EXPECT_EQ(
      message_of(std::string(8, '\xff')),
      "x.safetensors: the header is 18446744073709551615 bytes long, expected at most 100000000 in a safetensors file");
  EXPECT_EQ(message_of_header(""),
            "x.safetensors: the header is not JSON at its byte 1, expected that of a safetensors file");
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return "{\"dtype\":" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
}

TEST(Safetensors, PlacesThatDoNotFitAreRefused) {
  const auto one = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return message_of_header("{\"t\":" + tensor(dtype, shape, offsets) + "}");
  };
  EXPECT_EQ(one("\"F32\"", "[2]", "[0,8]"), "");
  EXPECT_EQ(one("\"F32\"", "[2]", "[0,9]"), "x.safetensors: tensor 't' lies at the bytes 0 to 9, expected a place within 8");
  EXPECT_EQ(one("\"F32\"", "[2]", "[8,0]"), "x.safetensors: tensor 't' lies at the bytes 8 to 0, expected a place within 8");
  EXPECT_EQ(one("\"F32\"", "[3]", "[0,8]"), "x.safetensors: tensor 't' has 8 bytes, expected 12 by its dtype and shape");
  EXPECT_EQ(one("\"F64\"", "[2]", "[0,8]"), "x.safetensors: tensor 't' has 8 bytes, expected 16 by its dtype and shape");
  EXPECT_EQ(one("\"F32\"", "[4294967296,4294967296]", "[0,0]"),
            "x.safetensors: tensor 't' has 0 bytes, expected more than there can be by its dtype and shape");
  EXPECT_EQ(one("\"F32\"", "[1]", "[4,8]"),
            "x.safetensors: tensor 't' begins at byte 4, expected 0, where the one before it ends");
  const std::string half = tensor("\"F32\"", "[1]", "[0,4]"), shifted = tensor("\"F32\"", "[1]", "[2,6]");
  EXPECT_EQ(message_of_header("{\"a\":" + half + ",\"b\":" + half + "}"),
            "x.safetensors: tensor 'b' begins at byte 0, expected 4, where the one before it ends");
  EXPECT_EQ(message_of_header("{\"a\":" + half + ",\"b\":" + shifted + "}"),
            "x.safetensors: tensor 'b' begins at byte 2, expected 4, where the one before it ends");
}

TEST(Safetensors, HeadersOfAnotherFormAreRefused) {
  const std::string good = tensor("\"F32\"", "[2]", "[0,8]");
  const auto expect = [](const std::string& header, const std::string& problem) {
    EXPECT_EQ(message_of_header(header), "x.safetensors: " + problem) << header;
  };
  expect("[]", "the header is an array, expected an object");
  expect("3", "the header is a number, expected an object");
  expect("{\"t\":3}", "'t' is a number, expected an object");
  expect("{\"t\":[]}", "'t' is an array, expected an object");
  expect("{\"t\":{}}", "tensor 't' lacks one of dtype, shape and data_offsets, expected all three");
  expect("{\"t\":{\"dtype\":\"F32\",\"shape\":[2]}}",
         "tensor 't' lacks one of dtype, shape and data_offsets, expected all three");
  expect("{\"t\":{\"size\":3}}", "tensor 't' has a field 'size', expected dtype, shape and data_offsets");
  expect("{\"t\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", "tensor 't' has dtype twice, expected it once");
  expect("{\"t\":" + good + ",\"t\":" + good + "}", "the name 't' comes twice, expected once");
  expect("{\"__metadata__\":{},\"__metadata__\":{}}", "the name '__metadata__' comes twice, expected once");
  expect("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", "the metadata 'a' comes twice, expected once");
  expect("{\"__metadata__\":{\"a\":1}}", "the metadata 'a' is a number, expected text");
  expect("{\"__metadata__\":\"a\"}", "'__metadata__' is text, expected an object");
  expect("{\"t\":" + tensor("\"BF16\"", "[4]", "[0,8]") + "}", "tensor 't' has dtype 'BF16', expected F32, F64, I64 or U8");
  expect("{\"t\":" + tensor("null", "[2]", "[0,8]") + "}", "tensor 't': dtype is null, expected text");
  expect("{\"t\":" + tensor("\"F32\"", "2", "[0,8]") + "}", "tensor 't': shape is a number, expected an array");
  expect("{\"t\":" + tensor("\"F32\"", "[-2]", "[0,8]") + "}",
         "tensor 't': shape holds a negative number, expected whole numbers from 0 on");
  expect("{\"t\":" + tensor("\"F32\"", "[[2]]", "[0,8]") + "}",
         "tensor 't': shape holds an array, expected whole numbers from 0 on");
  expect("{\"t\":" + tensor("\"F32\"", "[2]", "[0,1e3]") + "}",
         "tensor 't': data_offsets holds a fraction or too large a number, expected whole numbers from 0 on");
  expect("{\"t\":" + tensor("\"F32\"", "[2]", "[0,99999999999999999999]") + "}",
         "tensor 't': data_offsets holds a fraction or too large a number, expected whole numbers from 0 on");
  expect("{\"t\":" + tensor("\"F32\"", "[2]", "[8]") + "}", "tensor 't' has 1 data_offsets, expected 2");
  expect("{\"t\":" + good + "} x", "the header is not JSON at its byte 56, expected that of a safetensors file");
  expect("{\"\xff\":3}", "the header is not JSON at its byte 3, expected that of a safetensors file");
}

TEST(Safetensors, DeepNestingIsNoTrap) {
  EXPECT_EQ(message_of_header(std::string(1 << 20, '[')), "x.safetensors: the header is an array, expected an object");
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "{\"a\":";
  EXPECT_EQ(message_of_header(nested), "x.safetensors: tensor 'a' has a field 'a', expected dtype, shape and data_offsets");
}

}  // namespace
}  // namespace tilewright
