// SPDX-License-Identifier: MIT
// The shortest decimal digits that read back as the same double, in exact integer arithmetic.
//
// The way is Raffaele Giulietti's "The Schubfach way to render doubles", restricted to numbers that map data is
// made of. There the power of ten to multiply with is a whole number below 2^128, so nothing is ever rounded.
#ifndef CSIMDJSON_SHORTEST_DIGITS_H
#define CSIMDJSON_SHORTEST_DIGITS_H

#include <array>
#include <cstdint>
#include <cstring>

namespace csj {

using Wide = unsigned __int128;

/// 5^0 to 5^55, each moved up so that the highest of its 128 bits is set.
constexpr std::array<Wide, 56> powersOfFive() {
    std::array<Wide, 56> powers{};
    Wide power = 1;
    for (Wide &entry : powers) {
        entry = power;
        while (!(entry >> 127)) entry <<= 1;
        power *= 5;
    }
    return powers;
}
inline constexpr std::array<Wide, 56> fives = powersOfFive();

/// The number digits x 10^exponent.
struct Decimal {
    uint64_t digits;
    int exponent;
};

/// Whether `shortest` takes a positive double of these bits: not whole, from 2^-127 on, and no power of two, whose
/// neighbours lie at different distances.
inline bool isCommon(uint64_t bits) {
    const int exponent = static_cast<int>(bits >> 52) - 1075;
    return exponent < 0 && exponent >= -179 && (bits & 0xFFFFFFFFFFFFF) != 0;
}

/// Of the shortest decimals that round to the double of these bits the nearest to it. There may be zeros at
/// its end.
///
/// - Precondition: `isCommon(bits)`.
inline Decimal shortest(uint64_t bits) {
    const uint64_t significand = (bits & 0xFFFFFFFFFFFFF) | (uint64_t(1) << 52);
    const int q = static_cast<int>(bits >> 52) - 1075;
    // floor(q log10(2)): one step of the last place is between 10^k and 10^(k + 1).
    const int k = (q * 1262611) >> 22;
    // The bits of 10^-k x 2^q: floor(-k log2(10)) + 1 + q, 1 to 4.
    const int shift = ((-k * 1741647) >> 19) + 1 + q;
    const Wide power = fives[static_cast<size_t>(-k)];

    // Four times the number and its upper and lower bounds, in units of 10^k: `high` before the point, `low` behind.
    const uint64_t quadruple = significand << 2 << shift;
    const Wide lower = static_cast<Wide>(quadruple) * static_cast<uint64_t>(power);
    const Wide upper = static_cast<Wide>(quadruple) * static_cast<uint64_t>(power >> 64) + (lower >> 64);
    const uint64_t high = static_cast<uint64_t>(upper >> 64);
    const Wide low = (upper << 64) | static_cast<uint64_t>(lower);
    const uint64_t spanHigh = static_cast<uint64_t>(power >> (127 - shift));
    const Wide spanLow = power << (shift + 1);
    const Wide belowLow = low - spanLow;
    const Wide aboveLow = low + spanLow;
    const uint64_t below = high - spanHigh - (belowLow > low);
    const uint64_t above = high + spanHigh + (aboveLow < low);

    // Of the digits behind the point, it only matters whether any is not zero: one bit at the end stands for them.
    const uint64_t middle = high | (low != 0);
    // An even significand is what a decimal just between two doubles is rounded to.
    const uint64_t excluded = significand & 1;
    const uint64_t least = (below | (belowLow != 0)) + excluded;
    const uint64_t greatest = (above | (aboveLow != 0)) - excluded;

    // Which of them fit is as good as random, so nothing here branches on it.
    const uint64_t floor = middle >> 2;
    const uint64_t tens = floor / 10;
    const bool tensFit = least <= 40 * tens;
    const bool nextTensFit = 40 * tens + 40 <= greatest;
    const bool isShorter = tensFit != nextTensFit;
    const bool floorFits = least <= 4 * floor;
    const bool ceilingFits = 4 * floor + 4 <= greatest;
    const bool isUp = middle + (floor & 1) > 4 * floor + 2;
    const uint64_t nearest = floor + (floorFits == ceilingFits ? isUp : ceilingFits);
    return {isShorter ? tens + nextTensFit : nearest, k + isShorter};
}

/// The eight digits of a number below 10^8, zeros before it, one a byte and the first in the lowest.
inline uint64_t eightDigits(uint64_t number) {
    // Halves, then quarters, then digits, side by side in one word.
    const uint64_t halves = number / 10000 | (number % 10000) << 32;
    const uint64_t hundreds = ((halves * 10486) >> 20) & 0x0000007F0000007F;
    const uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
    const uint64_t tens = ((pairs * 103) >> 10) & 0x000F000F000F000F;
    return tens | (pairs - 10 * tens) << 8;
}

}  // namespace csj

#endif
