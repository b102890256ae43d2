// SPDX-License-Identifier: MIT

/// One statement that reads everything that a feed needs to know about the server, the table, the slot and
/// the publication, as JSON.
enum CatalogQuery {
    static func sql(_ configuration: TableFeedConfiguration) -> String {
        let schema = SQLName.literal(configuration.schema)
        let table = SQLName.literal(configuration.table)
        let slot = SQLName.literal(configuration.slotName)
        let publication = SQLName.literal(configuration.publicationName)
        return """
            WITH RECURSIVE subject AS (
                SELECT c.* FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = \(schema) AND c.relname = \(table)
            ), attribute AS (
                SELECT a.*, a.xmin::text AS version FROM pg_attribute a JOIN subject ON subject.oid = a.attrelid
                WHERE a.attnum > 0 AND NOT a.attisdropped
            ), part(oid) AS (
                SELECT oid FROM subject
                UNION
                SELECT i.inhrelid FROM part JOIN pg_inherits i ON i.inhparent = part.oid
                    JOIN pg_class c ON c.oid = i.inhrelid WHERE c.relispartition
            ), used(oid) AS (
                SELECT atttypid FROM attribute
                UNION
                SELECT part.oid FROM used JOIN pg_type t ON t.oid = used.oid CROSS JOIN LATERAL (
                    SELECT t.typbasetype AS oid WHERE t.typbasetype <> 0
                    UNION ALL SELECT t.typelem WHERE t.typelem <> 0 AND t.typlen = -1
                    UNION ALL SELECT a.atttypid FROM pg_attribute a
                        WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
                ) AS part
            )
            SELECT json_build_object(
                'version', current_setting('server_version_num')::int,
                'walLevel', current_setting('wal_level'),
                'isStandby', pg_is_in_recovery(),
                'user', current_user,
                'database', current_database(),
                'mayReplicate', (SELECT rolreplication OR rolsuper FROM pg_roles WHERE rolname = current_user),
                'mayCreate', has_database_privilege(current_database(), 'CREATE'),
                'partitions', (SELECT string_agg(oid::text, ',' ORDER BY oid) FROM part),
                'files', (SELECT string_agg(c.relfilenode::text, ',' ORDER BY c.oid) FROM part
                    JOIN pg_class c USING (oid)),
                'publicationVersions', (SELECT concat_ws(',', p.oid, p.xmin, (SELECT string_agg(r.oid || '/' || r.xmin::text, ','
                    ORDER BY r.oid) FROM pg_publication_rel r JOIN part ON part.oid = r.prrelid
                    WHERE r.prpubid = p.oid)) FROM pg_publication p WHERE pubname = \(publication)),
                'columnVersions', (SELECT string_agg(version, ',' ORDER BY attnum) FROM attribute),
                'slotLimit', current_setting('max_replication_slots')::int,
                'slotCount', (SELECT count(*) FROM pg_replication_slots),
                'slot', (SELECT to_jsonb(s) FROM pg_replication_slots s WHERE slot_name = \(slot)),
                'publication', (SELECT to_jsonb(p) FROM pg_publication p WHERE pubname = \(publication)),
                'ownsPublication', (SELECT pg_has_role(pubowner, 'USAGE') FROM pg_publication
                    WHERE pubname = \(publication)),
                'published', (SELECT to_jsonb(t) FROM pg_publication_tables t WHERE pubname = \(publication)
                    AND schemaname = \(schema) AND tablename = \(table)),
                'namesakes', (SELECT json_agg(json_build_object('schema', n.nspname, 'name', c.relname)
                    ORDER BY n.nspname <> \(schema), n.nspname, c.relname) FROM (SELECT * FROM pg_class
                    WHERE lower(relname) = lower(\(table)) AND relkind IN ('r', 'p') ORDER BY oid LIMIT 5) c
                    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE NOT EXISTS (SELECT FROM subject)
                    AND has_schema_privilege(n.oid, 'USAGE')),
                'schemaExists', EXISTS (SELECT FROM pg_namespace WHERE nspname = \(schema)),
                'mayUseSchema', (SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = \(schema)),
                'table', (SELECT json_build_object(
                    'oid', c.oid::bigint, 'kind', c.relkind, 'persistence', c.relpersistence,
                    'identity', c.relreplident,
                    'isOwner', pg_has_role(c.relowner, 'USAGE'),
                    'maySelect', has_table_privilege(c.oid, 'SELECT'), 'hasPolicy', row_security_active(c.oid)
                    ) FROM subject c),
                'columns', (SELECT json_agg(json_build_object(
                    'name', a.attname, 'type', a.atttypid::bigint, 'modifier', a.atttypmod,
                    'typeText', format_type(a.atttypid, a.atttypmod), 'expression', CASE WHEN a.attgenerated <> '' THEN (SELECT pg_get_expr(d.adbin, d.adrelid)
                        FROM pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum) END,
                    'maySelect', has_column_privilege(a.attrelid, a.attnum, 'SELECT')) ORDER BY a.attnum)
                    FROM attribute a),
                'indexes', (SELECT json_agg(json_build_object(
                    'name', (SELECT relname FROM pg_class WHERE oid = i.indexrelid),
                    'isPrimary', i.indisprimary, 'isIdentity', i.indisreplident,
                    'isPartial', i.indpred IS NOT NULL, 'isImmediate', i.indimmediate,
                    'columns', (SELECT json_agg(coalesce((SELECT attname FROM attribute a WHERE a.attnum = k.number), '')
                        ORDER BY k.position) FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, position)
                        WHERE k.position <= i.indnkeyatts))
                    ORDER BY i.indexrelid) FROM pg_index i JOIN subject ON subject.oid = i.indrelid
                    WHERE i.indisunique AND i.indisvalid),
                'types', (SELECT json_agg(json_build_object(
                    'oid', t.oid::bigint, 'name', t.typname, 'kind', t.typtype, 'category', t.typcategory,
                    'base', t.typbasetype::bigint, 'modifier', t.typtypmod,
                    'element', CASE WHEN t.typlen = -1 AND t.typcategory = 'A' THEN t.typelem::bigint ELSE 0 END,
                    'delimiter', (SELECT e.typdelim FROM pg_type e WHERE e.oid = t.typelem),
                    'hasTextCast', EXISTS (SELECT FROM pg_cast WHERE castsource = t.oid
                        AND casttarget = 'text'::regtype AND castmethod = 'f'),
                    'fields', (SELECT json_agg(json_build_object('name', a.attname, 'type', a.atttypid::bigint)
                        ORDER BY a.attnum) FROM pg_attribute a WHERE t.typrelid <> 0 AND a.attrelid = t.typrelid
                        AND a.attnum > 0 AND NOT a.attisdropped)))
                    FROM used JOIN pg_type t ON t.oid = used.oid))
            """
    }
}
