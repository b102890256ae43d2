// SPDX-License-Identifier: MIT

/// What a pass makes of a node.
enum LevelClaim: Equatable, BitwiseCopyable {
    case unclaimed
    case claimed(NodeKey)
}
