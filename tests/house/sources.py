"""The main sources as a graph of files: who imports whom, as far as imports and names tell."""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCALA = ROOT / "jvm/src/main/scala"
JAVA = ROOT / "jvm/src/main/java"
CONNECT = ROOT / "jvm/src/connect/scala"
CRATES = {"dwell-solvers": ROOT / "native/solvers/src", "dwell-jni": ROOT / "native/jni/src"}

SCALA_TYPE = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)?(?:(?:private|protected)(?:\[\w+\])?\s+|(?:final|sealed|abstract|implicit|case)\s+)*"
    r"(?:class|object|trait|type)\s+(\w+)", re.M)
JAVA_TYPE = re.compile(r"^(?:public\s+|final\s+|abstract\s+|sealed\s+)*(?:class|interface|enum|record)\s+(\w+)", re.M)


def code_of(text):
    """Scala or Java without comments and without the text of strings; what a string interpolates stays."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"'(?:\\.|\")'", "", text)  # a quotation mark as a character
    text = re.sub(r'"""(.*?)"""', interpolated, text, flags=re.S)
    text = re.sub(r'"((?:\\.|[^"\\\n])*)"', interpolated, text)
    return re.sub(r"//.*", "", text)


def interpolated(string):
    """What a string has of code: `$name` and `${expression}`."""
    return " %s " % " ".join(name or expression for name, expression in re.findall(r"\$(?:(\w+)|\{([^}]*)\})", string.group(1)))


def package_of(text):
    return re.search(r"^package ([\w.]+)", text, re.M).group(1)


def jvm_files():
    """Path to text of the Scala and Java sources."""
    paths = sorted(SCALA.rglob("*.scala")) + sorted(CONNECT.rglob("*.scala")) + sorted(JAVA.rglob("*.java"))
    return {path: path.read_text("utf-8") for path in paths}


def jvm_graph(files):
    """For each file the files that it imports or, within its package, names."""
    types = collections.defaultdict(dict)
    for path, text in files.items():
        for name in (SCALA_TYPE if path.suffix == ".scala" else JAVA_TYPE).findall(text):
            types[package_of(text)][name] = path
    graph = {}
    for path, text in files.items():
        code = code_of(text)
        found = set()
        for prefix, selectors in re.findall(r"^\s*import ([\w.]+)\.(\{[^}]*\}|\w+|_|\*)", code, re.M):
            for selector in selectors.strip("{}").split(","):
                name = selector.split("=>")[0].strip()
                if name in ("_", "*"):
                    found.update(types.get(prefix, {}).values())
                elif name in types.get(prefix, {}):
                    found.add(types[prefix][name])
        # Names with their package, without an import.
        for prefix, name in re.findall(r"\b(dwell(?:\.[a-z]\w*)*)\.([A-Z]\w*)", code):
            if name in types.get(prefix, {}):
                found.add(types[prefix][name])
        body = re.sub(r"\.\s*[A-Z]\w*", "", re.sub(r"^\s*(?:import|package) .*$", "", code, flags=re.M))
        for name in set(re.findall(r"\b[A-Z]\w*\b", body)):
            if name in types[package_of(text)]:
                found.add(types[package_of(text)][name])
        graph[path] = found - {path}
    return graph


def rust_code_of(text):
    """Rust without comments and without its module of tests."""
    text = re.split(r"#\[cfg\(test\)\]\s*(?:pub )?mod \w+ \{", text)[0]
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"//.*", "", text)


def use_paths(code):
    """All paths of `use` statements, braces expanded, and paths that begin at crate or super elsewhere."""
    paths = []

    def expand(prefix, tree):
        tree = tree.strip()
        depth, start, parts = 0, 0, []
        for at, c in enumerate(tree):
            depth += (c == "{") - (c == "}")
            if c == "," and depth == 0:
                parts.append(tree[start:at])
                start = at + 1
        parts.append(tree[start:])
        for part in filter(None, (p.strip() for p in parts)):
            brace = part.find("{")
            if brace >= 0:
                expand(prefix + part[:brace], part[brace + 1:part.rindex("}")])
            else:
                paths.append((prefix + part.split(" as ")[0].strip()).rstrip(":"))

    statements = re.compile(r"^\s*(pub(?:\([^)]*\))? )?use ([^;]+);", re.M | re.S)
    for _, tree in statements.findall(code):
        expand("", tree)
    rest = statements.sub("", code)
    paths += re.findall(r"\b((?:crate|super)(?:::\w+)+)", rest)
    return paths


def rust_files(src):
    """The files of a crate, without those of tests, which stand in folders of their own."""
    return [path for path in sorted(src.rglob("*.rs")) if "tests" not in path.relative_to(src).parts]


def rust_graph(src):
    """For each file of a crate the files that it uses; `mod.rs` and `lib.rs` pass names on and use nothing by that."""
    files = {path: path.read_text("utf-8") for path in rust_files(src)}
    modules = {}
    for path in files:
        parts = list(path.relative_to(src).with_suffix("").parts)
        modules[tuple(parts[:-1] if parts[-1] in ("mod", "lib") else parts)] = path
    passed_on = collections.defaultdict(dict)
    for module, path in modules.items():
        for _, tree in re.findall(r"^\s*(pub(?:\([^)]*\))? )use ([^;]+);", rust_code_of(files[path]), re.M | re.S):
            for used in use_paths("use %s;" % tree):
                passed_on[module][used.split("::")[-1]] = absolute(used, module, path, modules)

    def resolve(path, depth=0):
        """The file that a path leads to, through what modules pass on; None outside of the crate."""
        for length in range(len(path), -1, -1):
            module = tuple(path[:length])
            if module in modules:
                rest = path[length:]
                if rest and rest[0] in passed_on[module] and depth < 8:
                    target = passed_on[module][rest[0]]
                    return resolve(target + rest[1:], depth + 1) if target is not None else None
                return modules[module]
        return None

    graph = {}
    for module, path in modules.items():
        code = rust_code_of(files[path])
        if path.name in ("mod.rs", "lib.rs"):
            code = re.sub(r"^\s*pub(?:\([^)]*\))? use [^;]+;", "", code, flags=re.M | re.S)
        found = set()
        for used in use_paths(code):
            target = absolute(used, module, path, modules)
            file = resolve(target) if target is not None else None
            # A path into a folder's mod.rs that nothing passes on is an item of mod.rs itself.
            if file is not None and file != path:
                found.add(file)
        graph[path] = found
    return graph


def absolute(used, module, path, modules):
    """The parts of a path from the root of the crate; None for paths of other crates."""
    parts = used.split("::")
    at = list(module)
    if parts[0] == "crate":
        return parts[1:]
    if parts[0] == "self":
        return at + parts[1:]
    if parts[0] == "super":
        while parts and parts[0] == "super":
            at = at[:-1]
            parts = parts[1:]
        return at + parts
    # In mod.rs and lib.rs, names of submodules.
    if tuple(at + parts[:1]) in modules and path.name in ("mod.rs", "lib.rs"):
        return at + parts
    return None


def cycles(graph):
    """Groups of files that import each other, directly or round."""
    index, low, stack, on_stack, found = {}, {}, [], set(), []

    def visit(node):
        work = [(node, iter(sorted(graph[node])))]
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        while work:
            at, edges = work[-1]
            for edge in edges:
                if edge not in graph:
                    continue
                if edge not in index:
                    index[edge] = low[edge] = len(index)
                    stack.append(edge)
                    on_stack.add(edge)
                    work.append((edge, iter(sorted(graph[edge]))))
                    break
                if edge in on_stack:
                    low[at] = min(low[at], index[edge])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    group = []
                    while not group or group[-1] != at:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1:
                        found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found
