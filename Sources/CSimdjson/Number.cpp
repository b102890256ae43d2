// SPDX-License-Identifier: MIT
#include "CSimdjson.h"

#include <charconv>
#include <cstring>

// ECMAScript's Number::toString: the shortest digits that read back as the same number, laid out plainly where
// the decimal exponent is from -7 to 20, else in scientific notation.
extern "C" size_t csj_print_number(double number, char *target) {
    if (number == 0) {
        *target = '0';
        return 1;
    }
    char *out = target;
    if (number < 0) {
        *out++ = '-';
        number = -number;
    }
    if (number < 1e15 && number == static_cast<double>(static_cast<long long>(number))) {
        const auto whole = std::to_chars(out, out + 20, static_cast<long long>(number));
        return static_cast<size_t>(whole.ptr - target);
    }
    char text[40];
    const auto written = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific);
    char digits[24];
    int count = 0;
    const char *at = text;
    for (; at < written.ptr && *at != 'e'; at++) {
        if (*at != '.') digits[count++] = *at;
    }
    int exponent = 0;
    const char *power = at + 1;
    const bool down = *power == '-';
    if (*power == '-' || *power == '+') power++;
    for (; power < written.ptr; power++) exponent = exponent * 10 + (*power - '0');
    if (down) exponent = -exponent;
    const int point = exponent + 1;
    if (point > 21 || point <= -6) {
        *out++ = digits[0];
        if (count > 1) {
            *out++ = '.';
            memcpy(out, digits + 1, static_cast<size_t>(count - 1));
            out += count - 1;
        }
        *out++ = 'e';
        *out++ = exponent < 0 ? '-' : '+';
        out = std::to_chars(out, out + 4, exponent < 0 ? -exponent : exponent).ptr;
    } else if (point <= 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = point; i < 0; i++) *out++ = '0';
        memcpy(out, digits, static_cast<size_t>(count));
        out += count;
    } else if (point >= count) {
        memcpy(out, digits, static_cast<size_t>(count));
        out += count;
        for (int i = count; i < point; i++) *out++ = '0';
    } else {
        memcpy(out, digits, static_cast<size_t>(point));
        out += point;
        *out++ = '.';
        memcpy(out, digits + point, static_cast<size_t>(count - point));
        out += count - point;
    }
    return static_cast<size_t>(out - target);
}
