from supm.mechanisms.noise.discrete_gaussian import DiscreteGaussian as DiscreteGaussian
from supm.mechanisms.noise.discrete_laplace import DiscreteLaplaceNoise as DiscreteLaplaceNoise
from supm.mechanisms.noise.gamma_norm import GammaNorm as GammaNorm
from supm.mechanisms.noise.gaussian import ContinuousGaussian as ContinuousGaussian
from supm.mechanisms.noise.gaussian import GaussianNoise as GaussianNoise
from supm.mechanisms.noise.gaussian import classical_sigma as classical_sigma
from supm.mechanisms.noise.loss_bounds import LossBounds as LossBounds
from supm.mechanisms.noise.objective import ObjectivePerturbation as ObjectivePerturbation
from supm.mechanisms.noise.summed_gaussian import mirrored_triangle as mirrored_triangle
from supm.mechanisms.noise.summed_gaussian import sigma_for as sigma_for
from supm.mechanisms.noise.summed_gaussian import summed_mu as summed_mu
from supm.mechanisms.noise.summed_gaussian import symmetric_gaussian as symmetric_gaussian
from supm.mechanisms.noise.summed_gaussian import symmetric_noise as symmetric_noise
from supm.mechanisms.noise.zero_sum import ZeroSumNoise as ZeroSumNoise
from supm.mechanisms.noise.zero_sum import information_coalition as information_coalition
from supm.mechanisms.noise.zero_sum import information_eavesdropper as information_eavesdropper
from supm.mechanisms.noise.zero_sum import information_publisher as information_publisher
from supm.mechanisms.noised_number import BinnedReports as BinnedReports
from supm.mechanisms.noised_number import NoisedNumber as NoisedNumber
from supm.mechanisms.randomizers.choice import Candidate as Candidate
from supm.mechanisms.randomizers.choice import RandomizerChoice as RandomizerChoice
from supm.mechanisms.randomizers.choice import choose as choose
from supm.mechanisms.randomizers.duchi import Duchi as Duchi
from supm.mechanisms.randomizers.frequency import FrequencyRandomizer as FrequencyRandomizer
from supm.mechanisms.randomizers.frequency import SupportRandomizer as SupportRandomizer
from supm.mechanisms.randomizers.generalized_response import (
    GeneralizedRandomizedResponse as GeneralizedRandomizedResponse,
)
from supm.mechanisms.randomizers.hadamard_response import HadamardResponse as HadamardResponse
from supm.mechanisms.randomizers.hybrid import Hybrid as Hybrid
from supm.mechanisms.randomizers.independent_reports import IndependentReports as IndependentReports
from supm.mechanisms.randomizers.joint_report import JointReport as JointReport
from supm.mechanisms.randomizers.laplace import ContinuousLaplace as ContinuousLaplace
from supm.mechanisms.randomizers.laplace import Laplace as Laplace
from supm.mechanisms.randomizers.local_hashing import LocalHashing as LocalHashing
from supm.mechanisms.randomizers.numeric import NumericRandomizer as NumericRandomizer
from supm.mechanisms.randomizers.numeric import PublicGrid as PublicGrid
from supm.mechanisms.randomizers.ordered_discrete import (
    OrderedDiscretePerturbation as OrderedDiscretePerturbation,
)
from supm.mechanisms.randomizers.piecewise import ContinuousPiecewise as ContinuousPiecewise
from supm.mechanisms.randomizers.piecewise import Piecewise as Piecewise
from supm.mechanisms.randomizers.randomizer import Estimate as Estimate
from supm.mechanisms.randomizers.randomizer import FiniteChannel as FiniteChannel
from supm.mechanisms.randomizers.randomizer import LocalRandomizer as LocalRandomizer
from supm.mechanisms.randomizers.randomizer import Reports as Reports
from supm.mechanisms.randomizers.randomizer import Tally as Tally
from supm.mechanisms.randomizers.reconstruction import Reconstruction as Reconstruction
from supm.mechanisms.randomizers.reconstruction import reconstruct as reconstruct
from supm.mechanisms.randomizers.records import number_records as number_records
from supm.mechanisms.randomizers.records import record_numbers as record_numbers
from supm.mechanisms.randomizers.square_wave import ContinuousSquareWave as ContinuousSquareWave
from supm.mechanisms.randomizers.square_wave import DistributionEstimate as DistributionEstimate
from supm.mechanisms.randomizers.square_wave import SquareWave as SquareWave
from supm.mechanisms.randomizers.subset_selection import SubsetSelection as SubsetSelection
from supm.mechanisms.randomizers.unary_encoding import UnaryEncoding as UnaryEncoding
