// SPDX-License-Identifier: MIT

/// The SQL of generated columns that derive points from other geometries.
enum GeneratedColumn {
    /// A column with the same points in degrees.
    static func transformed(_ column: Catalog.Column, of configuration: TableFeedConfiguration) -> [String] {
        [statement(column, configuration, "ST_Transform(\(plain(column)), 4326)")]
    }

    /// A column with a point on each geometry.
    static func point(
        _ column: Catalog.Column, of configuration: TableFeedConfiguration, reference: Int
    ) -> [String] {
        let point = "ST_PointOnSurface(\(plain(column)))"
        let value =
            [0, 4326].contains(reference) ? "ST_SetSRID(\(point), 4326)" : "ST_Transform(\(point), 4326)"
        return [statement(column, configuration, value)]
    }

    private static func statement(
        _ column: Catalog.Column, _ configuration: TableFeedConfiguration, _ value: String
    ) -> String {
        return
            "ALTER TABLE \(configuration.readableTable) ADD COLUMN \(SQLName.readable(column.name + "_4326")) geometry(Point, 4326) "
            + "GENERATED ALWAYS AS (\(value)) STORED;"
    }

    private static func plain(_ column: Catalog.Column) -> String {
        SQLName.readable(column.name) + (column.typeText.contains("geography") ? "::geometry" : "")
    }
}
