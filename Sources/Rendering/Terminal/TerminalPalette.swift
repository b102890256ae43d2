// SPDX-License-Identifier: MIT

/// The colours that a terminal can show: none, the 256 indexed ones, or 24 bits.
public enum TerminalPalette: Sendable { case none, indexed, full }
