// Arrays as NumPy writes them: what is in them, and what happens to damaged ones.
#include "tilewright/base/array_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "../scratch.hpp"
#include "tilewright/base/file.hpp"

namespace tilewright {
namespace {

const std::string kDigits = std::string(TILEWRIGHT_TEST_DATA) + "/digits/digits.npz";  // numpy.savez_compressed wrote it

std::string npy(const std::string& header, const std::string& numbers, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += version;
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(header.size() >> (8 * i) & 255);
  return bytes + header + numbers;
}

std::string header(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

std::vector<float> values(const std::string& bytes) {
  const Result<NumberArray> array = array_from_npy(bytes, "a.npy");
  EXPECT_TRUE(array) << (array ? "" : array.error().message);
  return array ? array->values : std::vector<float>{};
}

std::string refusal(const std::string& bytes) {
  const Result<NumberArray> array = array_from_npy(bytes, "a.npy");
  EXPECT_FALSE(array);
  return array ? "" : array.error().message;
}

using Floats = std::vector<float>;

TEST(ArrayFile, TypesAndOrders) {
  EXPECT_EQ(values(npy(header("|u1", "(3,)"), {"\x01\x02\xff", 3})), (Floats{1, 2, 255}));
  EXPECT_EQ(values(npy(header("|i1", "(3,)"), {"\x01\x02\xff", 3})), (Floats{1, 2, -1}));
  EXPECT_EQ(values(npy(header("|b1", "(2,)"), {"\x00\x01", 2})), (Floats{0, 1}));
  EXPECT_EQ(values(npy(header("<i2", "(1, 1)"), {"\xfe\xff", 2})), (Floats{-2}));
  EXPECT_EQ(values(npy(header(">i2", "(1, 1)"), {"\xff\xfe", 2})), (Floats{-2}));
  EXPECT_EQ(values(npy(header("<i8", "()"), {"\x07\0\0\0\0\0\0\0", 8})), (Floats{7}));
  EXPECT_EQ(values(npy(header("<f4", "(1,)"), {"\0\0\xc0\x3f", 4})), (Floats{1.5}));
  EXPECT_EQ(values(npy(header("<f8", "(1,)"), {"\0\0\0\0\0\0\xf8\x3f", 8})), (Floats{1.5}));
  EXPECT_EQ(values(npy(header("|u1", "(2, 3)"), {"\1\2\3\4\5\6", 6}, 2)), (Floats{1, 2, 3, 4, 5, 6}));
  // Column by column in the file: (0,0), (1,0), (0,1), …
  EXPECT_EQ(values(npy(header("|u1", "(2, 3)", "True"), {"\1\4\2\5\3\6", 6})), (Floats{1, 2, 3, 4, 5, 6}));
}

TEST(ArrayFile, WritesWhatItReads) {
  NumberArray array{{2, 3, 4}, Floats(24)};
  std::iota(array.values.begin(), array.values.end(), -5.5f);
  const std::string bytes = to_npy(array);
  EXPECT_EQ((bytes.size() - 4 * array.values.size()) % 64, 0);
  const Result<NumberArray> again = array_from_npy(bytes, "a.npy");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->shape, array.shape);
  EXPECT_EQ(again->values, array.values);
  EXPECT_EQ(array_from_npy(to_npy({{3}, {1, 2, 3}}), "a.npy")->shape, (std::vector<std::int64_t>{3}));
}

TEST(ArrayFile, NumPysOwnFile) {
  const Result<ArrayFile> file = ArrayFile::read(kDigits);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->names(), (std::vector<std::string>{"calibration", "X", "y"}));
  const Result<NumberArray> images = file->array("X");
  ASSERT_TRUE(images);
  EXPECT_EQ(shape_text(images->shape), "360x1x8x8");
  EXPECT_EQ(*std::ranges::max_element(images->values), 16);
  const Result<NumberArray> labels = file->array("y");
  ASSERT_TRUE(labels);
  for (float digit = 0; digit < 10; ++digit) {
    EXPECT_NEAR(static_cast<double>(std::ranges::count(labels->values, digit)), 36, 2);
  }
  EXPECT_EQ(file->array("x").error().message,
            kDigits + ": has no array 'x', expected one of its 3: calibration, X, y (did you mean 'X'?)");
}

TEST(ArrayFile, Folders) {
  const Scratch scratch;
  EXPECT_EQ(ArrayFile::read(scratch.path()).error().message,
            scratch.path().string() + ": has no .npy file, expected one per array");
  ASSERT_TRUE(write_file(scratch / "b.npy", to_npy({{1}, {2}})));
  ASSERT_TRUE(write_file(scratch / "a.npy", to_npy({{1}, {1}})));
  const Result<ArrayFile> folder = ArrayFile::read(scratch.path());
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(folder->array("b")->values, Floats{2});
  const Result<ArrayFile> single = ArrayFile::read(scratch / "b.npy");
  ASSERT_TRUE(single);
  EXPECT_EQ(single->array("X")->values, Floats{2});
}

TEST(ArrayFile, RefusesInOneSentence) {
  EXPECT_EQ(refusal("\x93NUMPY"), "a.npy: is no .npy, expected what numpy.save writes");
  EXPECT_EQ(refusal(npy(header("<f4", "(2,)"), "1234")), "a.npy: has 4 bytes of numbers, expected 8 for the shape 2");
  EXPECT_EQ(refusal(npy(header("<c8", "(1,)"), "12345678")),
            "a.npy: has numbers of type '<c8', expected floats of 4 or 8 bytes or integers: use astype('float32')");
  EXPECT_EQ(refusal(npy(header("|O", "(1,)"), "12345678")),
            "a.npy: has a header that is not NumPy's, expected descr, fortran_order and shape");
  EXPECT_EQ(refusal(npy(header("<f4", "(3000000000, 3000000000)"), "")), "a.npy: has more than 2^31 numbers");
  EXPECT_EQ(refusal(npy(header("<f4", "(-1,)"), "1234")),
            "a.npy: has a header that is not NumPy's, expected descr, fortran_order and shape");
}

// Every cut and every changed byte of a real file ends in a sentence or in the arrays that it had: checksums are compared.
TEST(ArrayFile, DamagedFiles) {
  const std::string whole = *read_file(kDigits);
  const std::vector<float> expected = ArrayFile::from_bytes(whole, "f.npz")->array("y")->values;
  const auto check = [&](const std::string& bytes) {
    const Result<ArrayFile> file = ArrayFile::from_bytes(bytes, "f.npz");
    if (!file) {
      EXPECT_TRUE(file.error().message.starts_with("f.npz: ")) << file.error().message;
      return;
    }
    const Result<NumberArray> array = file->array("y");
    if (array) {
      EXPECT_EQ(array->values, expected);
    }
  };
  for (std::size_t size = 0; size < whole.size(); size += 131) check(whole.substr(0, size));
  for (std::size_t at = 0; at<whole.size(); at += at + 400> whole.size() ? 1 : 97) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    check(changed);
  }
}

TEST(ArrayFile, NoFileSaysHowMuchMemoryIsTaken) {
  std::string bytes = *read_file(kDigits);
  const std::size_t entry = bytes.find("PK\x01\x02");
  for (std::size_t i = 24; i < 28; ++i) bytes[entry + i] = '\x7f';  // its size: two gigabytes
  EXPECT_NE(ArrayFile::from_bytes(bytes, "f.npz").error().message.find("more than the file holds"), std::string::npos);
}

}  // namespace
}  // namespace tilewright
