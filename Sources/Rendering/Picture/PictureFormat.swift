// SPDX-License-Identifier: MIT

/// The file formats of a picture.
public enum PictureFormat: String, CaseIterable, Sendable { case svg, png, pdf }
