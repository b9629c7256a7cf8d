/// A dependency, and what it is where nobody has given it.
///
/// ```swift
/// private enum MailerKey: DependencyKey {
///     static let liveValue = Mailer.smtp
///     static let testValue = Mailer.unimplemented
/// }
///
/// extension DependencyValues {
///     var mailer: Mailer {
///         get { self[MailerKey.self] }
///         set { self[MailerKey.self] = newValue }
///     }
/// }
/// ```
public protocol DependencyKey: SendableMetatype {
    associatedtype Value: Sendable
    static var liveValue: Value { get }
    /// In previews of Xcode: the live value where nothing else is said.
    static var previewValue: Value { get }
    /// In tests: the preview's value where nothing else is said.
    static var testValue: Value { get }
}

extension DependencyKey {
    public static var previewValue: Value { liveValue }
    public static var testValue: Value { previewValue }

    /// The value of a context.
    static func value(in context: DependencyContext) -> Value {
        switch context {
        case .live: liveValue
        case .preview: previewValue
        case .test: testValue
        }
    }
}
