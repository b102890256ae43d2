# SPDX-License-Identifier: MIT
"""The relocatable folder: both programs, the libraries that they need, and the files that they read."""
import os
import re
import shutil
import subprocess

from packaging_steps import ROOT, PackageError, output

#: What every glibc system has, in the version that the programs were linked with or a newer one.
GLIBC = re.compile(
    r"(ld-linux-x86-64|lib(c|m|dl|rt|pthread|resolv|util|anl|mvec|nsl|nss_\w+|thread_db|BrokenLocale))\.so\.\d+"
)
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")
FONT_FOLDER = "/usr/share/fonts/truetype/dejavu"
LEAFLET = "/usr/share/javascript/leaflet"
FONT_SETTINGS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<!-- The fonts of clusterctl render: the system's and the user's, and the one that is here if there are none. -->
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir>/usr/local/share/fonts</dir>
  <dir prefix="xdg">fonts</dir>
  <dir prefix="relative">.</dir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <cachedir>/var/cache/fontconfig</cachedir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


class Library:
    """A shared library of the bundle."""

    def __init__(self, file, path):
        self.file = file
        #: Where this machine has it; its package is the component of the SBOM.
        self.path = os.path.realpath(path)


def build(tree, programs, work):
    """Makes the folder, and returns its libraries."""
    for folder in ("bin", "lib", "share/clusterd"):
        os.makedirs(os.path.join(tree, folder))
    for program in ("clusterd", "clusterctl"):
        copy_elf(os.path.join(programs, program), os.path.join(tree, "bin", program), "$ORIGIN/../lib")
    libraries = needed([os.path.join(programs, "clusterd"), os.path.join(programs, "clusterctl"), *loaded_on_demand()])
    for library in libraries:
        target = os.path.join(tree, "lib", library.file)
        if library.file.startswith("libicudata."):
            write_number_data(library.path, target, work)
        else:
            copy_elf(library.path, target, "$ORIGIN")
    copy_shared_files(os.path.join(tree, "share/clusterd"))
    write_manuals(tree, programs)
    return libraries


def loaded_on_demand():
    """ICU's libraries, which clusterd loads when it first formats a number."""
    version = output("pkg-config", "--modversion", "icu-i18n").split(".")[0]
    folder = output("pkg-config", "--variable=libdir", "icu-i18n")
    return [f"{folder}/libicui18n.so.{version}", f"{folder}/libicuuc.so.{version}"]


def needed(files):
    """All libraries that files need, besides the C library's, and the files themselves if they are libraries."""
    found = {os.path.basename(file): file for file in files if ".so." in file}
    for file in files:
        for line in output("ldd", file).splitlines():
            name, _, rest = line.strip().partition(" => ")
            if not rest or GLIBC.fullmatch(os.path.basename(name)):
                continue
            if rest.startswith("not found"):
                raise PackageError(f"{file} needs {name}, which is missing")
            found[name] = rest.rsplit(" (", 1)[0]
    return [Library(name, found[name]) for name in sorted(found)]


def copy_elf(source, target, runpath):
    """Copies a program or library, without symbols for debuggers and the building machine's paths.

    A build id stays: strip moves what follows a note that it removes, and then drops the segment that becomes read-only.
    """
    subprocess.run(
        ["strip", "--strip-unneeded", "--remove-section=.comment", "-o", target, source], check=True)
    if "/bin/" in target:
        subprocess.run([os.path.join(ROOT, "scripts/packaging/clear-module-hashes"), target], check=True)
    subprocess.run(["patchelf", "--set-rpath", runpath, target], check=True)
    os.chmod(target, 0o755 if "/bin/" in target else 0o644)


def write_number_data(source, target, work):
    """ICU's data library with what formatting numbers needs: 6 of 31 MB."""
    symbols = output("readelf", "-W", "--dyn-syms", source)
    name = re.search(r"\b(icudt\d+_dat)\b", symbols).group(1)
    # The entries' names begin with the file's, in what icupkg reads and in what it writes.
    data, cut = (os.path.join(work, folder, name.replace("_dat", "l.dat")) for folder in ("icu", "icu-cut"))
    for file in (data, cut):
        os.makedirs(os.path.dirname(file))
    removed = os.path.join(work, "removed.txt")
    subprocess.run(["objcopy", "-O", "binary", "-j", ".rodata", source, data], check=True)
    entries = output("icupkg", "-l", data).split()
    with open(removed, "w", encoding="ascii") as file:
        file.writelines(f"{entry}\n" for entry in entries if not formats_numbers(entry))
    subprocess.run(["icupkg", "-r", removed, data, cut], check=True)
    assembly = os.path.join(work, "icudata.s")
    with open(assembly, "w", encoding="ascii") as file:
        file.write(
            f'.section .rodata\n.balign 16\n.globl {name}\n.type {name}, %object\n{name}:\n.incbin "{cut}"\n'
            f'.size {name}, . - {name}\n.section .note.GNU-stack,"",%progbits\n')
    soname = os.path.basename(target)
    subprocess.run(
        ["gcc", "-shared", "-nostdlib", "-Wl,--build-id=none", f"-Wl,-soname,{soname}", "-o", target, assembly], check=True)
    subprocess.run(["strip", "--remove-section=.comment", target], check=True)
    os.chmod(target, 0o644)


def formats_numbers(entry):
    """Whether an entry of ICU's data has locales' numbers, their currencies, or a table that both refer to."""
    folder, _, name = entry.rpartition("/")
    tables = (
        "numberingSystems", "supplementalData", "likelySubtags", "plurals", "currencyNumericCodes", "keyTypeData", "pool",
        "res_index", "root", "icustd", "icuver",
    )
    if folder or not name.endswith(".res"):
        return folder == "curr"
    return name[:-4] in tables or re.fullmatch(r"[a-z]{2,3}(_\w+)?\.res", name) is not None


def copy_shared_files(share):
    shutil.copytree(os.path.join(ROOT, "web"), os.path.join(share, "web"))
    os.makedirs(os.path.join(share, "leaflet"))
    for name, source in (("leaflet.js", "leaflet.min.js"), ("leaflet.css", "leaflet.css")):
        shutil.copyfile(os.path.join(LEAFLET, source), os.path.join(share, "leaflet", name))
    shutil.copytree(os.path.join(LEAFLET, "images"), os.path.join(share, "leaflet/images"))
    os.makedirs(os.path.join(share, "sample"))
    shutil.copyfile(os.path.join(ROOT, "Examples/cities.geojson"), os.path.join(share, "sample/cities.geojson"))
    os.makedirs(os.path.join(share, "fonts"))
    for font in FONTS:
        shutil.copyfile(os.path.join(FONT_FOLDER, font), os.path.join(share, "fonts", font))
    with open(os.path.join(share, "fonts/fonts.conf"), "w", encoding="ascii") as file:
        file.write(FONT_SETTINGS)
    for path, _, names in os.walk(share):
        for name in names:
            os.chmod(os.path.join(path, name), 0o644)


def write_manuals(tree, programs):
    """Manuals and completions, which the programs print from their own tables."""
    texts = {
        "man/man8/clusterd.8": ("clusterd", "--print", "manual"),
        "man/man5/clusterd.json.5": ("clusterd", "--print", "configuration-manual"),
        "man/man1/clusterctl.1": ("clusterctl", "manual"),
    }
    for shell, path in (
        ("bash", "bash-completion/completions/{}"), ("zsh", "zsh/site-functions/_{}"), ("fish", "fish/vendor_completions.d/{}.fish"),
    ):
        texts[path.format("clusterd")] = ("clusterd", "--print", shell)
        texts[path.format("clusterctl")] = ("clusterctl", "completion", shell)
    for path, (program, *arguments) in texts.items():
        file = os.path.join(tree, "share", path)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as text:
            subprocess.run([os.path.join(programs, program), *arguments], stdout=text, check=True)


def check_paths(tree):
    """No file may name a path of this machine's source tree."""
    for path, _, names in os.walk(tree):
        for name in names:
            with open(os.path.join(path, name), "rb") as file:
                if ROOT.encode() + b"/" in file.read():
                    raise PackageError(f"{os.path.join(path, name)} names {ROOT}")
