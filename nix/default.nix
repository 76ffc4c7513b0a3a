# The extension for Nix.  It was parsed, but not built, since its packages were not at hand:
#
#	nix-build -E '(import <nixpkgs> { }).postgresql18Packages.callPackage ./nix { }'
{
  lib,
  openssl,
  postgresql,
  postgresqlBuildExtension,
  postgresqlTestExtension,
}:

postgresqlBuildExtension (finalAttrs: {
  pname = "uuid9562";
  version = builtins.head (
    builtins.match ".*default_version = '([^']*)'.*" (builtins.readFile ../uuid9562.control)
  );

  src = lib.cleanSource ../.;

  buildInputs = [ openssl ];

  passthru.tests.extension = postgresqlTestExtension {
    inherit (finalAttrs) finalPackage;
    sql = builtins.readFile ../test/package/first_use.sql;
  };

  meta = {
    description = "Generate RFC 9562 UUIDs, query UUIDv7 keys by time, read table changes";
    homepage = "https://repository.invalid/uuid9562";
    license = lib.licenses.postgresql;
    platforms = postgresql.meta.platforms;
  };
})
