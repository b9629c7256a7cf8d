package import StorageEntities

/// Which rows a list holds.
package struct ListSpec<Item: Sendable>: Sendable {
    package let form: RowForm<Item>
    /// The rows, their order, and the part of them that is shown.
    package var request: RowRequest
    /// Whether all rows are counted.
    package var counts: Bool
    /// The number of rows kept ready on either side of the window, if all of them can be read.
    package var margin: Int
    /// Whether the window stays at its first row when rows come and go before it; otherwise it stays at its number.
    package var isAnchored: Bool
    /// Whether the window is a page, which goes back to the last one where its rows have gone.
    package var isPage: Bool

    private static var leastMargin: Int { 16 }

    package init(
        _ form: RowForm<Item>, _ request: RowRequest, counts: Bool = false, margin: Int? = nil,
        isAnchored: Bool = false, isPage: Bool = false
    ) {
        let request = request.reachable
        self.form = form
        self.request = request
        self.counts = counts
        self.isAnchored = isAnchored
        self.isPage = isPage
        self.margin = margin ?? max(Self.leastMargin, (request.limit ?? 0) / 2)
    }

    /// The same rows, read in another form.
    func reading<Other>(_ form: RowForm<Other>) -> ListSpec<Other> {
        ListSpec<Other>(
            form, request, counts: counts, margin: margin, isAnchored: isAnchored, isPage: isPage)
    }
}
