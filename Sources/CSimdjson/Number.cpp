// SPDX-License-Identifier: MIT
#include "CSimdjson.h"

#include <charconv>
#include <cstring>

#include "ShortestDigits.h"

namespace {

/// Digits without zeros at their end, and where their point is.
struct Digits {
    char text[24];
    int count;
    /// How many of the digits are before the point: less than 0 or more than `count` where zeros are.
    int point;
};

/// The digits of a common number, held in registers.
struct CommonDigits {
    /// The first sixteen digits as text, the first in the lowest byte; of fewer some zeros follow.
    csj::Wide text;
    char seventeenth;
    int count;
    int point;
};

CommonDigits commonDigits(uint64_t bits) {
    const csj::Decimal decimal = csj::shortest(bits);
    // Seventeen digits at most and fifteen at the least.
    const uint64_t upper = decimal.digits / 100000000;
    const uint64_t first = upper / 100000000;
    const uint64_t middle = csj::eightDigits(upper % 100000000);
    const uint64_t last = csj::eightDigits(decimal.digits % 100000000);
    const csj::Wide sixteen = static_cast<csj::Wide>(last) << 64 | middle;
    const bool isFull = first != 0;
    const int leading = isFull ? 0 : __builtin_ctzll(middle | uint64_t(1) << 63) / 8;
    // Seventeen digits end in no zero, or there would be fewer of them.
    const int trailing = last != 0 ? __builtin_clzll(last) / 8 : 8 + __builtin_clzll(middle | 1) / 8;
    constexpr csj::Wide zeros = static_cast<csj::Wide>(0x3030303030303030) << 64 | 0x3030303030303030;
    CommonDigits digits;
    digits.text = (isFull ? sixteen << 8 | first : sixteen >> (8 * leading)) | zeros;
    digits.seventeenth = static_cast<char>('0' + (last >> 56));
    digits.count = 16 + isFull - leading - trailing;
    digits.point = 16 + isFull - leading + decimal.exponent;
    return digits;
}

void rareDigits(double number, Digits &digits) {
    char text[40];
    const auto written = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
    const char *at = text;
    digits.count = 0;
    for (; at < written.ptr && *at != 'e'; at++) {
        if (*at != '.') digits.text[digits.count++] = *at;
    }
    int exponent = 0;
    const char *power = at + 1;
    const bool down = *power == '-';
    if (*power == '-' || *power == '+') power++;
    for (; power < written.ptr; power++) exponent = exponent * 10 + (*power - '0');
    digits.point = (down ? -exponent : exponent) + 1;
}

/// Writes digits with their point, their zeros or their exponent.
char *layOut(const char *digits, int count, int point, char *out) {
    if (point > 21 || point <= -6) {
        const int exponent = point - 1;
        *out++ = digits[0];
        if (count > 1) {
            *out++ = '.';
            memcpy(out, digits + 1, static_cast<size_t>(count - 1));
            out += count - 1;
        }
        *out++ = 'e';
        *out++ = exponent < 0 ? '-' : '+';
        return std::to_chars(out, out + 4, exponent < 0 ? -exponent : exponent).ptr;
    }
    if (point <= 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = point; i < 0; i++) *out++ = '0';
        memcpy(out, digits, static_cast<size_t>(count));
        return out + count;
    }
    if (point < count) {
        memcpy(out, digits, static_cast<size_t>(point));
        out[point] = '.';
        memcpy(out + point + 1, digits + point, static_cast<size_t>(count - point));
        return out + count + 1;
    }
    memcpy(out, digits, static_cast<size_t>(count));
    out += count;
    for (int i = count; i < point; i++) *out++ = '0';
    return out;
}

}  // namespace

// ECMAScript's Number::toString: the shortest digits that read back as the same number, laid out plainly where
// the decimal exponent is from -7 to 20, else in scientific notation.
extern "C" size_t csj_print_number(double number, char *target) {
    if (number == 0) {
        *target = '0';
        return 1;
    }
    char *out = target;
    *out = '-';
    out += number < 0;
    number = __builtin_fabs(number);
    if (number < 1e15 && number == static_cast<double>(static_cast<long long>(number))) {
        const auto whole = std::to_chars(out, out + 20, static_cast<long long>(number));
        return static_cast<size_t>(whole.ptr - target);
    }
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    Digits digits;
    if (csj::isCommon(bits)) {
        const CommonDigits common = commonDigits(bits);
        if (common.point > 0 && common.point < common.count && common.point < 16) {
            // Stores of a fixed length are the fastest; what they write too much is not counted.
            const csj::Wide fraction = common.text >> (8 * common.point);
            memcpy(out, &common.text, 16);
            out[common.point] = '.';
            memcpy(out + common.point + 1, &fraction, 16);
            out[17] = common.seventeenth;
            return static_cast<size_t>(out - target + common.count + 1);
        }
        memcpy(digits.text, &common.text, 16);
        digits.text[16] = common.seventeenth;
        digits.count = common.count;
        digits.point = common.point;
    } else {
        rareDigits(number, digits);
    }
    return static_cast<size_t>(layOut(digits.text, digits.count, digits.point, out) - target);
}
