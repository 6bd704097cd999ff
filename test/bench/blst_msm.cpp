// blst's Pippenger on random points and scalars of G1 over BLS12-381, as a peer to be timed turn by turn: prints "ready",
// then, for each line on standard input, the seconds of one sum. blst's function is single-threaded: the points are split
// over the threads and the parts are added. Arguments: log2 of the size, threads. The first sum is checked by adding the
// points of a few small scalars one by one.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "blst.h"

namespace {

constexpr size_t scalar_bits = 255;

struct instance {
  std::vector<blst_p1_affine> points;
  std::vector<uint8_t> scalars;
};

// P, P + Q, P + 2Q, ... for random P and Q; scalars below 2^254.
instance random_instance(size_t n, std::mt19937_64& random) {
  auto random_point = [&] {
    uint8_t k[32];
    for (auto& byte : k) byte = uint8_t(random());
    blst_p1 point;
    blst_p1_mult(&point, blst_p1_generator(), k, 250);
    return point;
  };
  blst_p1 next = random_point();
  const blst_p1 step = random_point();
  std::vector<blst_p1> projective(n);
  for (auto& point : projective) {
    point = next;
    blst_p1_add_or_double(&next, &next, &step);
  }
  instance made{std::vector<blst_p1_affine>(n), std::vector<uint8_t>(32 * n)};
  const blst_p1* list[2] = {projective.data(), nullptr};
  blst_p1s_to_affine(made.points.data(), list, n);
  for (auto& byte : made.scalars) byte = uint8_t(random());
  for (size_t i = 31; i < made.scalars.size(); i += 32) made.scalars[i] &= 0x3f;
  return made;
}

blst_p1 sum(const instance& in, size_t threads) {
  const size_t n = in.points.size();
  std::vector<blst_p1> parts(threads);
  std::vector<std::thread> workers;
  for (size_t t = 0; t < threads; t++) {
    workers.emplace_back([&, t] {
      const size_t begin = n * t / threads, count = n * (t + 1) / threads - begin;
      const blst_p1_affine* points[2] = {&in.points[begin], nullptr};
      const uint8_t* scalars[2] = {&in.scalars[32 * begin], nullptr};
      std::vector<limb_t> scratch(blst_p1s_mult_pippenger_scratch_sizeof(count) / sizeof(limb_t) + 1);
      blst_p1s_mult_pippenger(&parts[t], points, count, scalars, scalar_bits, scratch.data());
    });
  }
  for (auto& worker : workers) worker.join();
  for (size_t t = 1; t < threads; t++) blst_p1_add_or_double(&parts[0], &parts[0], &parts[t]);
  return parts[0];
}

bool is_right(size_t threads, std::mt19937_64& random) {
  const instance in = random_instance(64, random);
  blst_p1 expected{};
  for (size_t i = 0; i < in.points.size(); i++) {
    blst_p1 point, product;
    blst_p1_from_affine(&point, &in.points[i]);
    blst_p1_mult(&product, &point, &in.scalars[32 * i], scalar_bits);
    blst_p1_add_or_double(&expected, &expected, &product);
  }
  const blst_p1 found = sum(in, threads);
  return blst_p1_is_equal(&found, &expected);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const size_t n = size_t(1) << atoi(argv[1]), threads = size_t(atoi(argv[2]));
  std::mt19937_64 random(1);
  if (!is_right(threads, random)) {
    std::puts("wrong");
    return 1;
  }
  const instance in = random_instance(n, random);
  std::puts("ready");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    const auto start = std::chrono::steady_clock::now();
    const blst_p1 result = sum(in, threads);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%.9f %s\n", seconds.count(), blst_p1_is_inf(&result) ? "infinity" : "point");
    std::fflush(stdout);
  }
}
