"""The files that a package ships beside its modules."""


def shipped(package: str, name: str) -> str:
    """The text of a file, by its path below a package, which may be in an archive."""
    import pkgutil  # noqa: PLC0415 - the starts of most commands read no such file

    data = pkgutil.get_data(package, name)
    assert data is not None, "only loaders without files give none"
    return data.decode()
