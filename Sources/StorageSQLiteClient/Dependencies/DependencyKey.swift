/// A dependency and its default values.
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
    /// The type of the dependency.
    associatedtype Value: Sendable
    /// The default in a program.
    static var liveValue: Value { get }
    /// The default in Xcode previews: the live value unless implemented.
    static var previewValue: Value { get }
    /// The default in tests: the preview's value unless implemented.
    static var testValue: Value { get }
}

extension DependencyKey {
    /// The live value.
    public static var previewValue: Value { liveValue }
    /// The preview's value.
    public static var testValue: Value { previewValue }

    /// The value in a context.
    static func value(in context: DependencyContext) -> Value {
        switch context {
        case .live: liveValue
        case .preview: previewValue
        case .test: testValue
        }
    }
}
