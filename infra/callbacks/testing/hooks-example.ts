/**
 * A certificate for hooks.example that nobody trusts, and its key, for a receiver in tests. Valid until 2126; made with
 * `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=hooks.example
 * -addext subjectAltName=DNS:hooks.example`.
 */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBoTCCAUegAwIBAgIUH8xNL0LxXYi1oeqo8WEEO9s24C8wCgYIKoZIzj0EAwIw
GDEWMBQGA1UEAwwNaG9va3MuZXhhbXBsZTAgFw0yNjEyMDEwNTU5NTVaGA8yMTI2
MTEwNzA1NTk1NVowGDEWMBQGA1UEAwwNaG9va3MuZXhhbXBsZTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABKIk2jvIgGEttCcCWBPN9KVNM4XgER/Xnn0AvoqEKADL
R+vqB33oikxhXn1PqFdLcHCgiFnrgvlij2IvOUDheu6jbTBrMB0GA1UdDgQWBBR1
+/hmxTJtDy8Uz3u2OikDZm/NcDAfBgNVHSMEGDAWgBR1+/hmxTJtDy8Uz3u2OikD
Zm/NcDAPBgNVHRMBAf8EBTADAQH/MBgGA1UdEQQRMA+CDWhvb2tzLmV4YW1wbGUw
CgYIKoZIzj0EAwIDSAAwRQIgDUqidRanOJgGf1BM8EohLR/CqukrBsuxQbyqBrMR
FcwCIQDXc2ZCcCwfLHL82RjE+VJNmRJYa17Jz/rklDmbmcuUxQ==
-----END CERTIFICATE-----
`

export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAix76h16iaJ9pDKl
1eoRuS1rqdOJtaf9LVqNILQBuS6hRANCAASiJNo7yIBhLbQnAlgTzfSlTTOF4BEf
1559AL6KhCgAy0fr6gd96IpMYV59T6hXS3BwoIhZ64L5Yo9iLzlA4Xru
-----END PRIVATE KEY-----
`
