/// Elements under numbers that stay theirs as long as they are there. Numbers that have become free are given out again.
package struct SlotArray<Element> {
    /// The elements by their numbers, and what was left where there is none.
    package private(set) var slots: [Element] = []
    private var free: [Int32] = []

    package init() {}

    /// How many elements there are.
    package var count: Int { slots.count - free.count }

    package subscript(number: Int32) -> Element {
        _read { yield slots[Int(number)] }
        _modify { yield &slots[Int(number)] }
    }

    /// - Returns: The element's number.
    package mutating func insert(_ element: Element) -> Int32 {
        if let number = free.popLast() {
            slots[Int(number)] = element
            return number
        }
        slots.append(element)
        return Int32(slots.count - 1)
    }

    /// Removes an element.
    ///
    /// - Parameter vacancy: What is left in its slot.
    package mutating func remove(_ number: Int32, leaving vacancy: Element) {
        slots[Int(number)] = vacancy
        free.append(number)
    }
}
