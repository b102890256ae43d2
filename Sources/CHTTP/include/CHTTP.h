// SPDX-License-Identifier: MIT
// Heads and bodies of HTTP/1 requests by libhttp_parser, frames of WebSockets by libwslay. Neither handles sockets.
#ifndef CHTTP_H
#define CHTTP_H

#include <http_parser.h>
#include <wslay/wslay.h>

#endif
