// The inner loops of nn, written once for vectors of any width and compiled for every x86 generation; the best one for the
// processor at hand is chosen when the program runs.
//
// B samples, I inputs, O outputs. Weights are (I × O); rows of weights, biases and of `dy` are readable up to their padded
// columns. What is written is exactly the columns of a view.
//
// Every sum has one order, which neither the vector width nor the number of rows handed over changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tilewright/nn/matrix.hpp"

namespace tilewright::kernels {

enum class Curve { Identity, Relu, Tanh };

// y(B,O) <- f(x(B,I)·w(I,O) + b(O))
void dense(ConstView x, ConstView weight, const float* bias, Curve f, View y);

// dw(I,O) += x(B,I)ᵀ·dy(B,O), db(O) += Σ dy
void dense_gradient(ConstView x, ConstView dy, View dweight, float* dbias);

// dx(B,C) <- (dy(B,O)·t(O, first … first+C-1)) ⊙ f'(kept), where t is the transposed weight and kept(B,C) the values of f.
void dense_backward(ConstView dy, ConstView transposed, std::size_t first, Curve f, ConstView kept, View dx);

// t(O,I) <- w(I,O)ᵀ
void transpose(ConstView weight, View transposed);

}  // namespace tilewright::kernels
