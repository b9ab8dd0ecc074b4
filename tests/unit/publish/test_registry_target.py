"""A repository as a target: what is attached there, as its list says or as it is."""

from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.registry_target import RegistryTarget
from reprobridge.publish.signing.referrer import bundle_blobs, bundle_manifest
from reprobridge.registry.model import SILENT, Blob
from reprobridge.system.http import RealHttp
from support.registries import client

IMAGE = Descriptor(MediaType.MANIFEST, Digest.of(b"image"), 5)


def test_an_attachment_that_is_listed_and_lost_is_noticed_where_nothing_proves_what_is_there(
    real_http: RealHttp,
) -> None:
    with FakeRegistry(Options(referrers=False)) as fake:
        registry = client(fake.host, real_http)
        target = RegistryTarget(registry, "a/b")
        kept, lost = (bundle_manifest(data, IMAGE, "kind") for data in (b"one", b"two"))
        target.push([Blob.of(blob) for data in (b"one", b"two") for blob in bundle_blobs(data)], SILENT)
        target.attach(IMAGE, [kept, lost])
        del fake.content.repository("a/b").manifests[str(Digest.of(lost))]
        assert target.attached(IMAGE) == {Digest.of(kept), Digest.of(lost)}
        assert RegistryTarget(registry, "a/b", proves_blobs=False).attached(IMAGE) == {Digest.of(kept)}
