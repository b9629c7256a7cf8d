import StorageKit
import StorageUI
import SwiftUI

// The examples of the pages, which `DocumentationTests` compares with this file.

@StorageEntity
struct Invoice: Identifiable {
    var id: Int
    var customer: String
}

struct InvoiceList: View {
    private let storage: Storage
    @QuerySubscribe<Invoice> private var invoices: [Invoice]

    init(_ storage: Storage) {
        self.storage = storage
        _invoices = QuerySubscribe(storage.query(Invoice.self).orderBy(\.customer))
    }

    var body: some View {
        VStack {
            List(invoices) { invoice in Text(invoice.customer) }
                .withSubscriptionError($invoices)
            Button("Undo") { Task { try await storage.undo(reason: "undo button") } }
        }
    }
}
