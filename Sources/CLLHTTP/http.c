// SPDX-License-Identifier: MIT
#include "/usr/share/llhttp/http.c"
