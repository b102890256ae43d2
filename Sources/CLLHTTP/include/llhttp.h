// SPDX-License-Identifier: MIT
// Reads HTTP/1 requests. llhttp is Node's parser; Debian's package node-llhttp has it as C sources, which the other files
// of this module compile. They include this header by its name.
#pragma once

#include "/usr/share/include/llhttp/llhttp.h"
