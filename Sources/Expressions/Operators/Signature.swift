// SPDX-License-Identifier: MIT
import JSON

/// The types of an operator's operands and of its value, and what it does.
struct Signature: Sendable {
    enum Parameters: Sendable {
        case fixed([ExpressionType])
        /// Any number of operands of one type.
        case any(ExpressionType)
    }

    let result: ExpressionType
    let parameters: Parameters
    /// The name of the compiled operator, if it is not the written one.
    let name: String?
    let evaluate: Operation.Evaluate

    init(
        _ result: ExpressionType, _ parameters: Parameters, name: String? = nil,
        _ evaluate: @escaping Operation.Evaluate
    ) {
        self.result = result
        self.parameters = parameters
        self.name = name
        self.evaluate = evaluate
    }

    func takes(_ count: Int) -> Bool {
        switch parameters {
        case .fixed(let types): types.count == count
        case .any: true
        }
    }

    func parameter(_ index: Int) -> ExpressionType {
        switch parameters {
        case .fixed(let types): index < types.count ? types[index] : .value
        case .any(let type): type
        }
    }

    var text: String {
        switch parameters {
        case .fixed(let types): "(" + types.map(\.name).joined(separator: ", ") + ")"
        case .any(let type): "(\(type.name)...)"
        }
    }
}
