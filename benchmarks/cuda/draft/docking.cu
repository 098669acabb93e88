// The kernels of ../../kernels/src/draft/docking.rs. Built with `nvcc -O3`.

#define THREADS 64
#define POSES 4
#define BOTH_BONDS 1
#define CHARGED 2
#define HARDNESS 38.0f
#define ELECTROSTATIC 45.0f

struct __align__(16) Atom {
    float x, y, z;
    unsigned kind;
};

struct __align__(16) Parameters {
    unsigned hbtype;
    float radius, hphb, elsc;
};

// How far from contact something acts.
struct Reach {
    float gap, inverse;
};

struct Pair {
    float radii, inverse_radii, charge, water;
    Reach charge_reach, water_reach;
};

static __device__ Reach reach(float gap)
{
    return {gap, 1.0f / gap};
}

static __device__ Pair pair_of(const Parameters &ligand, const Parameters &protein)
{
    Pair pair;
    pair.radii = ligand.radius + protein.radius;
    pair.inverse_radii = 1.0f / pair.radii;
    float product = ELECTROSTATIC * ligand.elsc * protein.elsc;
    bool attracts = ligand.hbtype == BOTH_BONDS || protein.hbtype == BOTH_BONDS;
    pair.charge = attracts ? -fabsf(product) : product;
    pair.charge_reach = ligand.hbtype == CHARGED && protein.hbtype == CHARGED ? reach(4) : reach(2);
    bool hates_water = ligand.hphb < 0, other_hates_water = protein.hphb < 0;
    if (protein.hphb == 0 || !(hates_water || other_hates_water)) {
        pair.water = 0;
    } else if (ligand.hphb * protein.hphb < 0) {
        pair.water = fabsf(ligand.hphb) + fabsf(protein.hphb);
    } else {
        pair.water = ligand.hphb + protein.hphb;
    }
    pair.water_reach = hates_water && other_hates_water ? reach(5.5f) : reach(1);
    return pair;
}

static __device__ float within(float gap, Reach reach)
{
    return gap < 0 ? 1.0f : gap < reach.gap ? 1.0f - gap * reach.inverse : 0.0f;
}

static __device__ float energy_of(const Pair &pair, float distance)
{
    float gap = distance - pair.radii;
    float overlap = gap < 0 ? 2 * HARDNESS * (1.0f - distance * pair.inverse_radii) : 0.0f;
    return overlap + pair.charge * within(gap, pair.charge_reach) + pair.water * within(gap, pair.water_reach);
}

struct Transform {
    float4 rows[3];
};

static __device__ Transform transform(float a, float b, float c, float x, float y, float z)
{
    float sin_a, cos_a, sin_b, cos_b, sin_c, cos_c;
    sincosf(a, &sin_a, &cos_a);
    sincosf(b, &sin_b, &cos_b);
    sincosf(c, &sin_c, &cos_c);
    return {
        {{cos_b * cos_c, sin_a * sin_b * cos_c - cos_a * sin_c, cos_a * sin_b * cos_c + sin_a * sin_c, x},
         {cos_b * sin_c, sin_a * sin_b * sin_c + cos_a * cos_c, cos_a * sin_b * sin_c - sin_a * cos_c, y},
         {-sin_b, sin_a * cos_b, cos_a * cos_b, z}}};
}

static __device__ float along(float4 row, const Atom &atom)
{
    return row.w + row.x * atom.x + row.y * atom.y + row.z * atom.z;
}

// `poses` has six rows of `length` numbers.
extern "C" __global__ void __launch_bounds__(THREADS) mini_bude(
    const Atom* __restrict__ protein, unsigned protein_atoms, const Atom* __restrict__ ligand, unsigned ligand_atoms,
    const Parameters* __restrict__ force_field, unsigned count, const float* __restrict__ poses,
    float* __restrict__ energies, unsigned length)
{
    extern __shared__ Parameters kinds[];
    for (unsigned i = threadIdx.x; i < count; i += THREADS) {
        kinds[i] = force_field[i];
    }
    __syncthreads();
    unsigned first = blockIdx.x * THREADS * POSES + threadIdx.x;
    Transform transforms[POSES];
    float sums[POSES] = {};
    for (int n = 0; n < POSES; ++n) {
        unsigned i = first + n * THREADS;
        float numbers[6];
        for (int k = 0; k < 6; ++k) {
            numbers[k] = i < length ? poses[(size_t)k * length + i] : 0;
        }
        transforms[n] = transform(numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]);
    }
    for (unsigned l = 0; l < ligand_atoms; ++l) {
        Atom atom = ligand[l];
        Parameters of_ligand = kinds[atom.kind];
        float3 places[POSES];
        for (int n = 0; n < POSES; ++n) {
            const float4* rows = transforms[n].rows;
            places[n] = make_float3(along(rows[0], atom), along(rows[1], atom), along(rows[2], atom));
        }
        for (unsigned p = 0; p < protein_atoms; ++p) {
            Atom other = protein[p];
            Pair pair = pair_of(of_ligand, kinds[other.kind]);
            for (int n = 0; n < POSES; ++n) {
                float x = places[n].x - other.x, y = places[n].y - other.y, z = places[n].z - other.z;
                sums[n] += energy_of(pair, sqrtf(x * x + y * y + z * z));
            }
        }
    }
    for (int n = 0; n < POSES; ++n) {
        if (first + n * THREADS < length) {
            energies[first + n * THREADS] = 0.5f * sums[n];
        }
    }
}
