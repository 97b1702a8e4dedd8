# The list of what is in the image, as SPDX 2.3. $sums has a line for each file (path, package, SHA1,
# SHA256), $packages one for each Debian package (name, version, architecture, homepage, source package), $codes
# one for each package with its verification code. $links are the image's symbolic links.
def rows: split("\n") | map(select(. != "") | split("\t"));
# An identifier may have letters, digits, dots and dashes.
def id: gsub("[^A-Za-z0-9.-]"; "-");
def package_id: "SPDXRef-Package-" + id;

($sums | rows | to_entries | map(.value + ["SPDXRef-File-\(.key)-\(.value[0] | split("/") | last | id)"])) as $files
| ($packages | rows) as $debian
| ($codes | rows | map({key: .[0], value: .[1]}) | from_entries) as $codes
# A package that files are listed of was analyzed, and has the checksum of their checksums.
| def analyzed($excluded): {
    filesAnalyzed: true,
    packageVerificationCode: ({packageVerificationCodeValue: $codes[.name]}
        + if $excluded == [] then {} else {packageVerificationCodeExcludedFiles: $excluded} end),
    licenseInfoFromFiles: ["NOASSERTION"]
};
{
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: "evenkeel-\($version)",
    documentNamespace: "https://evenkeel.io/sbom/\($version)/\($commit)/\($contents)",
    comment: "Symbolic links have no contents that a checksum could be of: \($links)",
    creationInfo: {created: $created, creators: ["Tool: evenkeel-charts-image-\($version)"]},
    packages: ([{
        SPDXID: ("evenkeel" | package_id),
        name: "evenkeel",
        versionInfo: $version,
        supplier: "NOASSERTION",
        downloadLocation: "NOASSERTION",
        sourceInfo: "commit \($commit)",
        licenseConcluded: "Apache-2.0",
        licenseDeclared: "Apache-2.0",
        copyrightText: "NOASSERTION",
        primaryPackagePurpose: "APPLICATION",
        comment: "This list is in the image, too, as \($itself), and cannot hold its own checksum."
    } | . + analyzed([$itself])] + [$debian[] | {
        SPDXID: (.[0] | package_id),
        name: .[0],
        versionInfo: .[1],
        supplier: "Organization: Debian",
        downloadLocation: "NOASSERTION",
        sourceInfo: "built from Debian source package \(.[4])",
        licenseConcluded: "NOASSERTION",
        licenseDeclared: "NOASSERTION",
        licenseComments: "/usr/share/doc/\(.[0])/copyright in the image",
        copyrightText: "NOASSERTION",
        comment: "Of this package only the files listed here are in the image.",
        primaryPackagePurpose: "LIBRARY",
        externalRefs: [{
            referenceCategory: "PACKAGE-MANAGER",
            referenceType: "purl",
            referenceLocator: "pkg:deb/\($id)/\(.[0] | @uri)@\(.[1] | @uri)?arch=\(.[2])&distro=\($distribution)"
        }]
    } + (if .[3] == "" or .[3] == null then {} else {homepage: .[3]} end) | . + analyzed([])]),
    files: [$files[] | {
        SPDXID: .[4],
        fileName: ".\(.[0])",
        checksums: [{algorithm: "SHA1", checksumValue: .[2]}, {algorithm: "SHA256", checksumValue: .[3]}],
        licenseConcluded: "NOASSERTION",
        licenseInfoInFiles: ["NOASSERTION"],
        copyrightText: "NOASSERTION"
    }],
    relationships: (
        [{spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: ("evenkeel" | package_id)}]
        + [$debian[] | {
            spdxElementId: ("evenkeel" | package_id),
            relationshipType: (if .[0] == "base-files" then "OTHER" else "DYNAMIC_LINK" end),
            relatedSpdxElement: (.[0] | package_id)
        }]
        + [$files[] | {spdxElementId: (.[1] | package_id), relationshipType: "CONTAINS", relatedSpdxElement: .[4]}]
    )
}
