# The folder "uuid9562" of CloudNativePG's repository of extension images needs this file.
# CloudNativePG makes these images only of Debian packages from apt.postgresql.org.  Propose
# this file once apt.postgresql.org has postgresql-18-uuid9562.
metadata = {
  name                     = "uuid9562"
  sql_name                 = "uuid9562"
  image_name               = "uuid9562"
  licenses                 = ["PostgreSQL"]
  shared_preload_libraries = []
  postgresql_parameters    = {}
  extension_control_path   = []
  dynamic_library_path     = []
  ld_library_path          = []
  bin_path                 = []
  env                      = {}
  auto_update_os_libs      = false
  required_extensions      = []
  create_extension         = true

  versions = {
    bookworm = {
      "18" = {
        // renovate: suite=bookworm-pgdg depName=postgresql-18-uuid9562
        package = "1.0-1.pgdg12+1"
        // renovate: suite=bookworm-pgdg depName=postgresql-18-uuid9562 extractVersion=^(?<version>\d+\.\d+)
        sql     = "1.0"
      }
    }
    trixie = {
      "18" = {
        // renovate: suite=trixie-pgdg depName=postgresql-18-uuid9562
        package = "1.0-1.pgdg13+1"
        // renovate: suite=trixie-pgdg depName=postgresql-18-uuid9562 extractVersion=^(?<version>\d+\.\d+)
        sql     = "1.0"
      }
    }
  }
}
