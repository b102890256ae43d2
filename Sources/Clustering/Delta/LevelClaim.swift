// SPDX-License-Identifier: MIT

/// The outcome of a pass for one node.
enum LevelClaim: Equatable, BitwiseCopyable {
    case unclaimed
    case claimed(NodeKey)
}
