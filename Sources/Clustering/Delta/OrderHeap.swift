// SPDX-License-Identifier: MIT

/// Nodes waiting to be visited, ordered by label: a binary heap (Williams, 1964).
struct OrderHeap {
    private struct Item {
        let order: OrderLabel
        let key: NodeKey
    }

    private var items: [Item] = []

    mutating func push(_ key: NodeKey, order: OrderLabel) {
        items.append(Item(order: order, key: key))
        var place = items.count - 1
        while place > 0, items[(place - 1) / 2].order > items[place].order {
            items.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func pop() -> NodeKey? {
        guard let first = items.first else { return nil }
        let last = items.removeLast()
        guard !items.isEmpty else { return first.key }
        items[0] = last
        var place = 0
        while true {
            var least = place
            for child in 2 * place + 1...2 * place + 2
            where child < items.count && items[child].order < items[least].order {
                least = child
            }
            if least == place { return first.key }
            items.swapAt(place, least)
            place = least
        }
    }
}
