/// Why a write can't be sent: its result can't be written as JSON.
package struct UnsendableWrite: Sendable, Equatable {
    package let reason: String
    /// The position of the last of the writes that would be sent as one up to which they could be sent; nil if there is none.
    package let sendableEnd: Int64?
    /// The position of the first later write of the document that can be sent; nil if there is none.
    package let correction: Int64?

    package init(reason: String, sendableEnd: Int64? = nil, correction: Int64? = nil) {
        self.reason = reason
        self.sendableEnd = sendableEnd
        self.correction = correction
    }
}
