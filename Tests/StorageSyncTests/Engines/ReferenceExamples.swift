import Foundation
import Observation
import StorageSync
import TestSupport
import Testing

// The patterns of SwiftfulDataManagers' documentation, as its users write them: managers that are given engines, an interactor and a
// presenter above them, paths that follow an account, mocks.

private struct UserModel: DataSyncModelProtocol, Equatable {
    var id: String
    var name: String
    var creationVersion: String?

    static let mock = UserModel(id: "user_123", name: "Anna")
}

extension UserModel {
    init(auth: UserAuthInfo, creationVersion: String?) {
        self.init(id: auth.uid, name: auth.name, creationVersion: creationVersion)
    }
}

/// What an authentication service says of a user.
private struct UserAuthInfo {
    let uid: String
    let name: String
}

private enum Utilities {
    static let appVersion = "2.1"
}

private struct WatchlistItem: DataSyncModelProtocol, Equatable {
    var id: String
    var movie: String
}

private struct CatalogItem: DataSyncModelProtocol, Equatable {
    var id: String
    var category: String
}

extension Product {
    fileprivate static let mocks = [
        Product("product_1", name: "Pencil", price: 1.5), Product("product_2", name: "Easel", price: 60),
    ]
}

@MainActor @Observable
private class UserManager {
    private let userSyncEngine: DocumentSyncEngine<UserModel>

    var currentUser: UserModel? { userSyncEngine.currentDocument }

    init(userSyncEngine: DocumentSyncEngine<UserModel>) { self.userSyncEngine = userSyncEngine }

    func signIn(userId: String) async throws { try await userSyncEngine.startListening(documentId: userId) }

    func signIn(auth: UserAuthInfo, isNewUser: Bool) async throws {
        let user = UserModel(auth: auth, creationVersion: isNewUser ? Utilities.appVersion : nil)
        try await userSyncEngine.saveDocument(user)
        try await userSyncEngine.startListening(documentId: auth.uid)
    }

    func signOut() { userSyncEngine.stopListening() }
}

@MainActor @Observable
private class ContentManager {
    private let productsSyncEngine: CollectionSyncEngine<Product>
    private let watchlistSyncEngine: CollectionSyncEngine<WatchlistItem>

    var products: [Product] { productsSyncEngine.currentCollection }
    var watchlist: [WatchlistItem] { watchlistSyncEngine.currentCollection }

    init(
        productsSyncEngine: CollectionSyncEngine<Product>, watchlistSyncEngine: CollectionSyncEngine<WatchlistItem>
    ) {
        self.productsSyncEngine = productsSyncEngine
        self.watchlistSyncEngine = watchlistSyncEngine
    }

    func startListening() async {
        await productsSyncEngine.startListening()
        await watchlistSyncEngine.startListening()
    }

    func stopListening() {
        productsSyncEngine.stopListening()
        watchlistSyncEngine.stopListening()
    }
}

/// Owns the managers.
@MainActor
private struct CoreInteractor {
    let userManager: UserManager
    let contentManager: ContentManager

    var currentUser: UserModel? { userManager.currentUser }

    func signInApple() async throws -> (user: UserAuthInfo, isNewUser: Bool) {
        (UserAuthInfo(uid: "user_123", name: "Anna"), true)
    }

    func logIn(user: UserAuthInfo, isNewUser: Bool) async throws {
        try await userManager.signIn(auth: user, isNewUser: isNewUser)
        await contentManager.startListening()
    }

    func signOut() {
        userManager.signOut()
        contentManager.stopListening()
    }
}

/// What a view observes: it calls the interactor, and knows no engine.
@MainActor @Observable
private final class Presenter {
    private let interactor: CoreInteractor

    var currentUser: UserModel? { interactor.currentUser }

    init(interactor: CoreInteractor) { self.interactor = interactor }

    func onSignInApplePressed() {
        Task {
            let result = try await interactor.signInApple()
            try await interactor.logIn(user: result.user, isNewUser: result.isNewUser)
        }
    }

    func onSignOutPressed() { interactor.signOut() }
}

@MainActor
private final class AuthManager {
    var currentUserId: String?
}

/// What a program logs with. That of another module is made to conform with `@retroactive`.
private final class LogManager: Sendable {
    func trackEvent(eventName: String, parameters: [String: Any]?, type: DataLogType) {
        print(type, eventName, parameters ?? [:])
    }
}

extension LogManager: DataSyncLogger {
    func trackEvent(event: any DataSyncLogEvent) {
        trackEvent(eventName: event.eventName, parameters: event.parameters, type: event.type)
    }
    func addUserProperties(dict: [String: Any], isHighPriority: Bool) { print(dict, isHighPriority) }
}

@MainActor @Suite struct ReferenceExamples {
    @Test("A manager of a user")
    func managerOfUser() async throws {
        let remote = MockRemoteDocumentService(document: UserModel.mock)
        let userManager = UserManager(
            userSyncEngine: DocumentSyncEngine<UserModel>(
                remote: remote, managerKey: "user", enableLocalPersistence: false, logger: LogManager()))
        try await userManager.signIn(userId: "user_123")
        #expect(userManager.currentUser == UserModel.mock)
        userManager.signOut()
        #expect(userManager.currentUser == nil)
        try await userManager.signIn(auth: UserAuthInfo(uid: "user_456", name: "Berta"), isNewUser: false)
        #expect(userManager.currentUser?.name == "Berta")
        try await eventually { remote.documents.map(\.name).sorted() == ["Anna", "Berta"] }
    }

    /// The mock's type is inferred from the engine's.
    @Test("A mock without a type")
    func mockWithoutType() async throws {
        let userSyncEngine = DocumentSyncEngine<UserModel>(
            remote: MockRemoteDocumentService(), managerKey: "user", enableLocalPersistence: false)
        #expect(UserManager(userSyncEngine: userSyncEngine).currentUser == nil)
        await #expect(throws: RemoteError.notFound) { try await userSyncEngine.getDocumentAsync(id: "user_123") }
    }

    @Test("A manager of two collections")
    func managerOfCollections() async throws {
        let authManager = AuthManager()
        authManager.currentUserId = "anna"
        let items = [WatchlistItem(id: "1", movie: "Solaris")]
        let contentManager = ContentManager(
            productsSyncEngine: CollectionSyncEngine<Product>(
                remote: MockRemoteCollectionService(collection: Product.mocks, delay: .zero), managerKey: "products",
                enableLocalPersistence: false),
            watchlistSyncEngine: CollectionSyncEngine<WatchlistItem>(
                remote: MockRemoteCollectionService(
                    collection: items,
                    collectionPath: { [weak authManager] in
                        guard let uid = authManager?.currentUserId else { return nil }
                        return "users/\(uid)/watchlist"
                    }, delay: .zero),
                managerKey: "watchlist", enableLocalPersistence: false))
        await contentManager.startListening()
        #expect(contentManager.products.map(\.name) == ["Pencil", "Easel"])
        #expect(contentManager.watchlist == items)
        authManager.currentUserId = nil
        #expect(contentManager.watchlist.isEmpty)
        #expect(contentManager.products.count == 2)
        contentManager.stopListening()
        #expect(contentManager.products.isEmpty)
    }

    @Test("A presenter signs in and out")
    func signInAndOut() async throws {
        let users = MockRemoteDocumentService<UserModel>(delay: .zero)
        let container = try PersistenceContainer.inMemory { $0.autoSchema(ProductRecord.self) }
        let items = [WatchlistItem(id: "1", movie: "Solaris")]
        let (userManager, contentManager) = withDatabaseContainer(container) {
            let userSyncEngine = DocumentSyncEngine<UserModel>(
                remote: users, managerKey: "user", enableLocalPersistence: true, logger: LogManager())
            let productsSyncEngine = CollectionSyncEngine<Product>(
                remote: MockRemoteCollectionService(collection: Product.mocks, delay: .zero), managerKey: "products",
                enableLocalPersistence: true, logger: LogManager())
            let watchlistSyncEngine = CollectionSyncEngine<WatchlistItem>(
                remote: MockRemoteCollectionService(collection: items, delay: .zero), managerKey: "watchlist",
                enableLocalPersistence: true, logger: LogManager())
            return (
                UserManager(userSyncEngine: userSyncEngine),
                ContentManager(productsSyncEngine: productsSyncEngine, watchlistSyncEngine: watchlistSyncEngine)
            )
        }
        let presenter = Presenter(
            interactor: CoreInteractor(userManager: userManager, contentManager: contentManager))
        #expect(presenter.currentUser == nil)
        presenter.onSignInApplePressed()
        let user = UserModel(id: "user_123", name: "Anna", creationVersion: "2.1")
        try await eventually { presenter.currentUser == user && users.documents == [user] }
        try await eventually { contentManager.products == Product.mocks && contentManager.watchlist == items }
        presenter.onSignOutPressed()
        #expect(presenter.currentUser == nil)
        #expect(contentManager.products.isEmpty)
        #expect(contentManager.watchlist.isEmpty)
        #expect(users.documents == [user], "who signs out deletes nothing at the remote")
        try await container.storage.close()
    }

    @Test("A part of a collection")
    func partOfCollection() async throws {
        let remote = MockRemoteCollectionService(
            collection: [
                CatalogItem(id: "1", category: "electronics"), CatalogItem(id: "2", category: "books"),
                CatalogItem(id: "3", category: "electronics"),
            ], delay: .zero)
        let catalogSyncEngine = CollectionSyncEngine<CatalogItem>(
            remote: remote, managerKey: "catalog", enableLocalPersistence: false)
        let electronics = try await catalogSyncEngine.getDocumentsAsync(buildQuery: { query in
            query.where("category", isEqualTo: "electronics")
        })
        #expect(electronics.map(\.id) == ["1", "3"])
        #expect(catalogSyncEngine.currentCollection.isEmpty, "nothing else is fetched, and nothing is kept")
    }

    @Test("Every call of a document")
    func everyCallOfDocument() async throws {
        let remote = MockRemoteDocumentService(document: UserModel.mock, delay: .zero)
        let container = try PersistenceContainer.inMemory()
        let userSyncEngine = withDatabaseContainer(container) {
            DocumentSyncEngine<UserModel>(remote: remote, managerKey: "user")
        }
        try await userSyncEngine.startListening(documentId: "user_123")
        #expect(try await userSyncEngine.getDocumentAsync() == UserModel.mock)
        remote.change(UserModel(id: "user_123", name: "Anne"))
        #expect(try await userSyncEngine.getDocumentAsync(behavior: .alwaysFetch).name == "Anne")
        try await eventually { userSyncEngine.currentDocument?.name == "Anne" }
        userSyncEngine.stopListening(clearCaches: false)
        #expect(userSyncEngine.currentDocument?.name == "Anne")
        for try await user in userSyncEngine.streamDocument(id: "user_123") {
            #expect(user?.name == "Anne")
            break
        }
        try await userSyncEngine.updateDocument(id: "user_123", data: ["name": "John"])
        try await userSyncEngine.deleteDocument(id: "user_123")?.confirmed()
        #expect(remote.documents.isEmpty)
        try await container.storage.close()
    }

    @Test("Every read of a collection")
    func everyReadOfCollection() async throws {
        let remote = MockRemoteCollectionService(collection: Product.mocks, delay: .zero)
        let container = try PersistenceContainer.inMemory { $0.autoSchema(ProductRecord.self) }
        let productsSyncEngine = withDatabaseContainer(container) {
            CollectionSyncEngine<Product>(remote: remote, managerKey: "products")
        }
        #expect(try await productsSyncEngine.getCollectionAsync() == Product.mocks)
        await productsSyncEngine.startListening()
        remote.failure = RemoteError.unavailable()
        #expect(try await productsSyncEngine.getCollectionAsync() == Product.mocks, "what is cached is enough")
        await #expect(throws: RemoteError.unavailable()) {
            try await productsSyncEngine.getCollectionAsync(behavior: .alwaysFetch)
        }
        remote.failure = nil
        #expect(try await productsSyncEngine.getCollectionAsync(behavior: .alwaysFetch) == Product.mocks)
        #expect(try await productsSyncEngine.getDocumentsAsync(where: { $0.price < 10 }).map(\.name) == ["Pencil"])
        try await container.storage.close()
    }
}
