#if STORAGE_SERVER
    import Foundation
    import HTTPTypes
    import Hummingbird
    import ServiceLifecycle
    import StorageKit

    /// The tickets over HTTP: rows, their live list, their past.
    struct TicketRoutes: Sendable {
        typealias Context = BasicRequestContext

        let storage: Storage
        let backups: Backups

        func add(to router: Hummingbird.Router<Context>) {
            let tickets = router.group("tickets")
            tickets.get(use: list)
            tickets.get("live", use: live)
            tickets.get(":id", use: ticket)
            tickets.put(":id", use: save)
            tickets.delete(":id", use: delete)
            tickets.get(":id/history", use: history)
            router.post("backups", use: backUp)
        }

        /// All tickets; with `?at=2026-11-26T10:00:00Z`, or the number of a commit, as they were then.
        private func list(_ request: Request, _ context: Context) async throws -> [Ticket] {
            guard let text = request.uri.queryParameters["at"] else {
                return try await storage.query(Ticket.self).orderBy(\.id).fetch()
            }
            let time = (try? Date(String(text), strategy: .iso8601)).map { StoragePoint.time($0) }
            guard let point = Int64(text).map({ .commit($0) }) ?? time else {
                throw HTTPError(.badRequest, message: "at is a time such as 2026-11-26T10:00:00Z, or a commit.")
            }
            return try await storage.asOf(point).query(Ticket.self).orderBy(\.id).fetch()
        }

        private func ticket(_ request: Request, _ context: Context) async throws -> Ticket {
            guard let ticket = try await storage.get(Ticket.self, id: context.parameters.require("id")) else {
                throw HTTPError(.notFound)
            }
            return ticket
        }

        /// Saves a ticket. The header `X-Reason` says why.
        private func save(_ request: Request, _ context: Context) async throws -> Receipt {
            let ticket = try await request.decode(as: Ticket.self, context: context)
            guard try ticket.id == context.parameters.require("id") else {
                throw HTTPError(.badRequest, message: "The ticket's id isn't that of its address.")
            }
            let (_, receipt) = try await storage.write(reason: request.headers[.reason]) { tx in try tx.save(ticket) }
            return Receipt(commit: receipt.commit)
        }

        private func delete(_ request: Request, _ context: Context) async throws -> Receipt {
            let id = try context.parameters.require("id")
            let (_, receipt) = try await storage.write(reason: request.headers[.reason]) { tx in
                try tx.delete(Ticket.self, id: id)
            }
            return Receipt(commit: receipt.commit)
        }

        /// The audit: every version of a ticket, and who made it, also of one that is deleted.
        private func history(_ request: Request, _ context: Context) async throws -> [Version] {
            let versions = try await storage.history(Ticket.self, id: context.parameters.require("id"))
            guard !versions.isEmpty else { throw HTTPError(.notFound) }
            return try versions.map { version in
                Version(
                    commit: version.commit.number, time: version.commit.date, operation: "\(version.operation)",
                    actor: version.commit.metadata.actor, reason: version.commit.metadata.reason,
                    correlation: version.commit.metadata.correlation, ticket: try version.entity)
            }
        }

        /// The open tickets as server-sent events: the list as it is, and again after each commit that changes it.
        private func live(_ request: Request, _ context: Context) async throws -> Response {
            let open = storage.query(Ticket.self).where { $0.isDone == false }.orderBy(\.id).live()
            return Response(
                status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
                body: ResponseBody { writer in
                    for try await tickets in open.snapshots.cancelOnGracefulShutdown() {
                        let json = try JSONEncoder().encode(tickets)
                        try await writer.write(ByteBuffer(string: "data: \(String(decoding: json, as: UTF8.self))\n\n"))
                    }
                    try await writer.finish(nil)
                })
        }

        private func backUp(_ request: Request, _ context: Context) async throws -> Backups.Report {
            try await backups.make()
        }
    }

    /// The commit that a change has made; nil where nothing changed.
    struct Receipt: ResponseEncodable {
        let commit: Int64?
    }

    /// What a commit made of a ticket; without one where it was deleted.
    struct Version: ResponseEncodable {
        let commit: Int64
        let time: Date
        let operation: String
        let actor: String?
        let reason: String?
        let correlation: String?
        let ticket: Ticket?
    }

    extension Ticket: ResponseEncodable {}

    extension HTTPField.Name {
        static let reason = HTTPField.Name("X-Reason")!
    }
#endif
