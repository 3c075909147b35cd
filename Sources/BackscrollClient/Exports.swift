// Signatures of this library have types of these modules. An app can use the members of those types without an import.
@_exported public import BackscrollTimeline

@_exported public import struct Wire.Attachment
@_exported public import struct Wire.Reaction
@_exported public import struct Wire.Timestamp
@_exported public import struct Wire.UserID
