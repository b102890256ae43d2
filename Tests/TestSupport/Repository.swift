// SPDX-License-Identifier: MIT
import Foundation

/// The project's folder.
public enum Repository {
    public static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
