"""Where each set comes from: the compact file that SUPM_DATA may hold, and the public originals.

Every digest was computed from the file, or is pinned by much public code for the file at that
address. Where no public original has the content of the compact file, the table has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ["SOURCES", "File", "Source"]


@dataclass(frozen=True, kw_only=True)
class File:
    """A file that is known by its digest. ``address`` is a name or a URL."""

    address: str
    sha256: str

    @property
    def name(self) -> str:
        """The last part of the address."""
        return self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True, kw_only=True)
class Source:
    """The compact file, and the originals that have the same content (none if there are none)."""

    compact: File
    originals: tuple[File, ...] = ()


_UCI: Final = "https://archive.ics.uci.edu/ml/machine-learning-databases"
_GITHUB: Final = "https://raw.githubusercontent.com"
_MNIST: Final = "https://storage.googleapis.com/cvdf-datasets/mnist"
_FASHION: Final = (
    f"{_GITHUB}/zalandoresearch/fashion-mnist/b2617bb6d3ffa2e429640350f613e3291e10b141/data/fashion"
)

SOURCES: Final = {
    "ionosphere": Source(
        compact=File(
            address="ionosphere.csv.gz",
            sha256="c182528785c37837a92acbbf7baa33e4938dc25e7717e697bbf709b2018beaa9",
        ),
        originals=(
            File(
                address=f"{_UCI}/ionosphere/ionosphere.data",
                sha256="46d52186b84e20be52918adb93e8fb9926b34795ff7504c24350ae0616a04bbd",
            ),
        ),
    ),
    "musk2": Source(
        compact=File(
            address="musk2.csv.gz",
            sha256="fc99408d3b44c203096291349f8a0ba0e98778360f4d8799021be2534d663388",
        ),
        # UCI has it in the format of compress(1), which Python does not read; this is its content.
        originals=(
            File(
                address=f"{_GITHUB}/alexanderbuchholz/hsmc/"
                "3ab7cf30007f28918793fd6589a7ec9fce8b2cf2/"
                "smc_sampler_functions/data/musk/clean2.data",
                sha256="8dee8e1946b6939ad96cc0d30560ae7e71c60886dd41d794a878f38a0c1a6a9f",
            ),
        ),
    ),
    "adult": Source(
        compact=File(
            address="adult.csv.gz",
            sha256="ae0655a69eefdf7e0186431236d13982bc29cb8c1ab2dcc1bd68dae2ecec0d92",
        ),
        originals=(
            File(
                address=f"{_UCI}/adult/adult.data",
                sha256="5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
            ),
            File(
                address=f"{_UCI}/adult/adult.test",
                sha256="a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
            ),
        ),
    ),
    "nltcs": Source(
        compact=File(
            address="nltcs.csv.gz",
            sha256="d0374f9c454b1000d439b845c8afa89499c024c4481dd7f3d2dffb43a5d8917e",
        ),
        originals=(
            File(
                address=f"{_GITHUB}/caicre/PrivMRF/12f2cae3f1784281cee7e8e201560882332f60bb/"
                "preprocess/nltcs.csv",
                sha256="31d23617ba74786d2d163c9c31a841e11e5a5f5f8266918d8021ec4e562684b4",
            ),
        ),
    ),
    "boston": Source(
        compact=File(
            address="boston.csv.gz",
            sha256="e98ba6587053e569e636033afe62303fbf17b43fcbd1baeafbd96e955d334df4",
        ),
        originals=(
            File(
                address=f"{_GITHUB}/scikit-learn/scikit-learn/"
                "ffc0f66676b4835eb1bdd3f3ecab025e9c1be9fe/"
                "sklearn/datasets/data/boston_house_prices.csv",
                sha256="d98212636026544fc9b9c0f372e5f819872e6fa6fa757ab025efdda22180f2d6",
            ),
        ),
    ),
    "howell1": Source(
        compact=File(
            address="howell1.csv.gz",
            sha256="0a89e0b5a6e06ed14fb674016886511ccd595f6428bbefb86bc6c4f932e6e20e",
        ),
        originals=(
            File(
                address=f"{_GITHUB}/rmcelreath/rethinking/"
                "ac1b3b2cda83f3e14096e2d997a6e30ad109eeee/data/Howell1.csv",
                sha256="768d2fb53d44490b35260903f58955548b26f587e7afaf4e00b2603715279bbd",
            ),
        ),
    ),
    "mnist": Source(
        compact=File(
            address="mnist.npz",
            sha256="06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",
        ),
        originals=(
            File(
                address=f"{_MNIST}/train-images-idx3-ubyte.gz",
                sha256="440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            ),
            File(
                address=f"{_MNIST}/train-labels-idx1-ubyte.gz",
                sha256="3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            ),
            File(
                address=f"{_MNIST}/t10k-images-idx3-ubyte.gz",
                sha256="8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            ),
            File(
                address=f"{_MNIST}/t10k-labels-idx1-ubyte.gz",
                sha256="f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            ),
        ),
    ),
    "fashion_mnist": Source(
        compact=File(
            address="fashion_mnist.npz",
            sha256="5b6d2c4c694a91887af8ab7d039c04f80af3c29378d731c93a538d2e831aa469",
        ),
        originals=(
            File(
                address=f"{_FASHION}/train-images-idx3-ubyte.gz",
                sha256="3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
            ),
            File(
                address=f"{_FASHION}/train-labels-idx1-ubyte.gz",
                sha256="a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
            ),
            File(
                address=f"{_FASHION}/t10k-images-idx3-ubyte.gz",
                sha256="346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
            ),
            File(
                address=f"{_FASHION}/t10k-labels-idx1-ubyte.gz",
                sha256="67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
            ),
        ),
    ),
    # The original archive differs from this file in 98 images, so it does not stand in for it.
    "cifar10": Source(
        compact=File(
            address="cifar10.npz",
            sha256="314dfced43e9296c00331271d8816bbc257b20d6a171ccdf9292afe5c338a36f",
        ),
    ),
}
