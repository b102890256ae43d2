import Expressions
import JSON
enum ExpressionOption {
 static func compile(_ v: JSONValue, expected: ExpressionType?, context: ExpressionContext, path: String) throws(SourceError) -> Expression { throw .cancelled }
 static func evaluate(_ e: Expression, zoom: Double) -> JSONValue? { nil }
 static func filter(_ v: JSONValue, path: String) throws(SourceError) -> CompiledOption { throw .cancelled }
 static func weight(_ v: JSONValue, path: String) throws(SourceError) -> CompiledOption { throw .cancelled }
 static func partition(_ v: JSONValue, path: String) throws(SourceError) -> CompiledOption { throw .cancelled }
 static func properties(_ v: JSONValue, path: String) throws(SourceError) -> [ClusterPropertyOption] { throw .cancelled }
}
struct SourceColumns: Sendable { var memoryBytes: Int { 0 } }
extension Revision { static func empty(options: SourceOptions, shared: SharedState) throws(SourceError) -> Revision { throw .cancelled } }
