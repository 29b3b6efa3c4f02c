// The shaders' exponential within 1 ulp of exp, over floats in [-104, 89]: every 101st of them, or
// all 2.24e9 with the word "all" (some minutes).
#include <cmath>
#include <cstdio>
#include <cstdlib>

#define DTAPE_PATH exponential_test
#include "check.h"
#include "cpu/exponential.h"

using namespace deltatape::cpu::exponential_test;

namespace {

constexpr float lowest = -104.0f, highest = 89.0f;
constexpr double smallest_normal = 0x1p-126, beyond_the_largest = 0x1p128;

// In units of the last place of the float nearest to exact.
double error_in_ulp(float got, double exact) {
  int exponent;
  std::frexp(exact, &exponent);
  return std::fabs(got - exact) / std::ldexp(1.0, exponent - 24);
}

bool is_right(float x, double *worst) {
  const float got = exponential(x);
  const double exact = std::exp(double(x));
  if (exact < smallest_normal) return got == 0.0f;
  if (exact >= beyond_the_largest) return std::isinf(got);
  const double error = error_in_ulp(got, exact);
  if (error > *worst) *worst = error;
  return error <= 1.0;
}

// Floats of one sign from zero to last, in the order of their bits.
void check_range(uint sign, float last, uint step, double *worst) {
  const uint end = as_type<uint>(std::fabs(last));
  for (uint bits = 0; bits <= end; bits += step) {
    const float x = as_type<float>(sign | bits);
    if (is_right(x, worst)) continue;
    char got[80];
    std::snprintf(got, sizeof got, "%a for exp(%a)", double(exponential(x)), double(x));
    fail_check(__FILE__, __LINE__, "expected at most 1 ulp of error", got);
    return;
  }
}

void special_values_are_exact() {
  CHECK(exponential(0.0f) == 1.0f);
  CHECK(exponential(-0.0f) == 1.0f);
  CHECK(exponential(-INFINITY) == 0.0f);
  CHECK(exponential(INFINITY) == INFINITY);
  CHECK(exponential(88.7228317f) < INFINITY);
  CHECK(exponential(-87.3365402f) >= 0x1p-126f);
  CHECK(as_type<uint>(exponential(as_type<float>(0xffc12345u))) == 0x7fc00000u);
}

}  // namespace

int main(int count, char **words) {
  const bool all = count > 1 && std::strcmp(words[1], "all") == 0;
  double worst = 0;
  RUN(special_values_are_exact);
  check_range(0x80000000u, lowest, all ? 1 : 101, &worst);
  check_range(0, highest, all ? 1 : 101, &worst);
  std::printf("largest error %.4f ulp\n", worst);
  return failed_checks == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
